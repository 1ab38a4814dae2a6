#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"
#include "validators/rules/inference/pipeline_graph.hpp"

namespace stackgate::validate::tests {
namespace {

constexpr crds::Kind pipeline = crds::Kind::inference_pipeline;

struct Entry {
  std::string name;
  std::string more = {};  // members of the entry
  std::string spec = {};  // members of its spec
};

std::string services(std::initializer_list<Entry> entries) {
  std::string out = "spec: {services: [";
  for (const Entry& each : entries) {
    out += "{name: " + each.name + ", " + each.more + (each.more.empty() ? "" : ", ") +
           "spec: {image: {repository: r/m, tag: '1'}, authSecret: a, " + each.spec + (each.spec.empty() ? "" : ", ") +
           "resources: {limits: {nvidia.com/gpu: 1}}}}, ";
  }
  return out + "]}";
}

std::string needs(std::string_view dependency) { return "dependencies: [" + std::string(dependency) + "]"; }

TEST(InferencePipelineRules, DependenciesAreOtherServicesOfThePipeline) {
  expect_rule(rule::pipeline_dependency_unknown, pipeline,
              {{services({{"a", needs("{name: b}")}, {"b"}}), {}},
               {services({{"a", needs("{name: c}")}, {"b"}}), {"spec.services[0].dependencies[0].name"}},
               {services({{"a", needs("{name: a}")}, {"b"}}), {"spec.services[0].dependencies[0].name"}}});
  expect_rule(
      rule::pipeline_dependency_disabled, pipeline,
      {{services({{"a", needs("{name: b}")}, {"b", "enabled: false"}}), {"spec.services[0].dependencies[0].name"}},
       {services({{"a", "enabled: false, " + needs("{name: b}")}, {"b", "enabled: false"}, {"c"}}), {}}});
}

TEST(InferencePipelineRules, ACycleIsNamed) {
  const Findings findings = of_rule(
      review_of(pipeline, services({{"a", needs("{name: b}")}, {"b", needs("{name: c}")}, {"c", needs("{name: b}")}})),
      rule::pipeline_cycle);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].path, "spec.services[2].dependencies[0].name");
  EXPECT_NE(findings[0].problem.find("b -> c -> b"), std::string::npos) << findings[0].problem;
  expect_rule(
      rule::pipeline_cycle, pipeline,
      {{services({{"a", needs("{name: b}, {name: c}")}, {"b", needs("{name: d}")}, {"c", needs("{name: d}")}, {"d"}}),
        {}}});
}

TEST(InferencePipelineRules, ALongChainIsWalkedWithoutRecursion) {
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i)
    text += "{name: s" + std::to_string(i) + ", dependencies: [{name: s" + std::to_string((i + 1) % 20'000) + "}]},";
  const Sample list(text + "]");
  Walk walk;
  const PipelineGraph graph(Field::root(walk, list.value(), nullptr));
  ASSERT_EQ(graph.entries().size(), 20'000U);
  EXPECT_EQ(graph.cycles().size(), 1U);
}

TEST(InferencePipelineRules, VariablesOfDependenciesAreWholeAndTheirOwn) {
  expect_rule(
      rule::pipeline_env_pair, pipeline,
      {{services({{"a", needs("{name: b, envName: B}")}, {"b"}}), {}},
       {services({{"a", needs("{name: b, envValue: x}")}, {"b"}}), {"spec.services[0].dependencies[0].envName"}}});
  expect_rule(rule::pipeline_env_conflict, pipeline,
              {{services({{"a", needs("{name: b, envName: B}, {name: c, envName: B}")}, {"b"}, {"c"}}),
                {"spec.services[0].dependencies[1].envName"}},
               {services({{"a", needs("{name: b, envName: B}"), "env: [{name: B, value: x}]"}, {"b"}}),
                {"spec.services[0].dependencies[0].envName"}},
               {services({{"a", needs("{name: c, envName: B}")}, {"b", needs("{name: c, envName: B}")}, {"c"}}), {}}});
  expect_rule(
      rule::env_name, pipeline,
      {{services({{"a", needs("{name: b, envName: 'B URL'}")}, {"b"}}), {"spec.services[0].dependencies[0].envName"}}});
  expect_rule(rule::pipeline_port_mismatch, pipeline,
              {{services({{"a", needs("{name: b, port: 9000}")}, {"b", "", "expose: {service: {port: 9000}}"}}), {}},
               {services({{"a", needs("{name: b, port: 9000}")}, {"b"}}), {"spec.services[0].dependencies[0].port"}}});
}

TEST(InferencePipelineRules, AServiceInsideIsHeldToAllRulesAtItsFullPath) {
  EXPECT_EQ(
      short_form(review_of(pipeline, services({{"a", "", "replicas: 2, scale: {enabled: true}, env: [{name: 'A B'}]"},
                                               {"b", "", "authSecret2: x"},
                                               {"1c"}}))),
      (std::vector<std::string>{"error spec.services[0].spec.replicas scale-excludes-replicas",
                                "error spec.services[0].spec.scale.maxReplicas scale-max-missing",
                                "error spec.services[0].spec.scale.metrics scale-needs-requests",
                                "error spec.services[0].spec.env[0].name env-name",
                                "error spec.services[1].spec.authSecret2 schema-unknown-field",
                                "error spec.services[2].name resource-name"}));
  EXPECT_EQ(short_form(review_of(pipeline, services({{"a"}, {"a"}}))),
            (std::vector<std::string>{"error spec.services[1] schema-duplicate"}));
  expect_rule(
      rule::pipeline_all_disabled, pipeline,
      {{services({{"a", "enabled: false"}}), {"spec.services"}}, {services({{"a", "enabled: false"}, {"b"}}), {}}});
}

}  // namespace
}  // namespace stackgate::validate::tests
