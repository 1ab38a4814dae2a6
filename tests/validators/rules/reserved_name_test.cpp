// Names under which Kubernetes keeps objects of its own.
#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace reserved_name_test {

using crds::Kind;

constexpr std::string_view name = "metadata.name";

TEST(ReservedNames, EveryNamespaceHasAServiceAccountCalledDefault) {
  for (const Kind kind : {Kind::inference_service, Kind::stack_datastore, Kind::stack_entitystore,
                          Kind::stack_customizer, Kind::stack_evaluator, Kind::stack_guardrail})
    expect_rule(rule::name_reserved, kind,
                {{"metadata: {name: default}", {name}},
                 {"metadata: {name: default, namespace: team-a}", {name}},
                 {"{metadata: {name: default}, spec: {serviceAccountName: models}}", {}},
                 {"metadata: {name: default-1}", {}}});
  EXPECT_EQ(
      short_form(review_of(Kind::stack_guardrail, "{metadata: {name: default}, spec: {serviceaccountName: models}}")),
      std::vector<std::string>{"error spec.serviceaccountName schema-unknown-field"});
}

TEST(ReservedNames, WhatMakesNoServiceAccountOfItsNameMayBeCalledSo) {
  expect_rule(rule::name_reserved, Kind::inference_cache,
              {{"metadata: {name: default}", {}}, {"metadata: {name: kubernetes}", {}}});
  expect_rule(rule::name_reserved, Kind::inference_pipeline,
              {{"metadata: {name: default}", {}}, {"metadata: {name: kubernetes}", {}}});
}

TEST(ReservedNames, TheNamespaceDefaultHasTheApiServersService) {
  expect_rule(rule::name_reserved, Kind::stack_guardrail,
              {{"metadata: {name: kubernetes}", {name}},  // the tables review in "default"
               {"metadata: {name: kubernetes, namespace: default}", {name}},
               {"metadata: {name: kubernetes, namespace: team-a}", {}},
               {"{metadata: {name: kubernetes}, spec: {serviceAccountName: models}}", {name}}});
}

TEST(ReservedNames, ThoseOfAPipelinesEntriesCountToo) {
  const auto entry = [](std::string_view called, std::string_view more) {
    return "spec: {services: [{name: " + std::string(called) +
           ", spec: {image: {repository: r.io/a, tag: '1'}, authSecret: s, resources: {limits: {nvidia.com/gpu: 1}}" +
           std::string(more) + "}}]}";
  };
  const std::string_view place = "spec.services[0].name";
  expect_rule(rule::name_reserved, Kind::inference_pipeline,
              {{entry("default", ""), {place}},
               {entry("default", ", serviceAccountName: models"), {}},
               {entry("kubernetes", ""), {place}},
               {"{metadata: {namespace: team-a}, " + entry("kubernetes", "") + "}", {}},
               {entry("llm", ""), {}}});
}

}  // namespace reserved_name_test
}  // namespace stackgate::validate::tests
