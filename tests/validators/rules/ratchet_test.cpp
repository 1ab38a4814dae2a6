// Updates: what was wrong and is untouched warns, what is new denies, and what is none of our business passes.
#include <gtest/gtest.h>

#include "services/kit/json/write.hpp"
#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace {

using crds::Kind;
using Lines = std::vector<std::string>;

Lines update(std::string_view old, std::string_view now, Kind kind = Kind::inference_service) {
  return short_form(review_of_update(kind, old, now));
}

TEST(Ratcheting, AnOldFaultThatIsUntouchedIsAWarning) {
  EXPECT_EQ(update("spec: {authSecret: Bad_Name}", "spec: {authSecret: Bad_Name, replicas: 2}"),
            (Lines{"warning spec.authSecret object-name"}));
  EXPECT_EQ(update("spec: {unknown: 1}", "spec: {unknown: 1, replicas: 2}"),
            (Lines{"warning spec.unknown schema-unknown-field"}));
}

TEST(Ratcheting, ANewFaultIsAnErrorBesideAnOldOne) {
  EXPECT_EQ(update("spec: {authSecret: Bad_Name}", "spec: {authSecret: Bad_Name, replicas: -1}"),
            (Lines{"warning spec.authSecret object-name", "error spec.replicas schema-range"}));
  EXPECT_EQ(update("spec: {authSecret: Bad_Name}", "spec: {authSecret: Other_Bad_Name}"),
            (Lines{"error spec.authSecret object-name"}));
}

TEST(Ratcheting, AFaultBetweenFieldsIsTouchedByEither) {
  const std::string_view old = "spec: {resources: {requests: {cpu: 4}, limits: {cpu: 2}}}";
  EXPECT_EQ(update(old, "spec: {replicas: 2, resources: {requests: {cpu: 4}, limits: {cpu: 2}}}"),
            (Lines{"warning spec.resources.requests.cpu requests-above-limits"}));
  EXPECT_EQ(update(old, "spec: {resources: {requests: {cpu: 4}, limits: {cpu: 1}}}"),
            (Lines{"error spec.resources.requests.cpu requests-above-limits"}));
}

TEST(Ratcheting, AnItemThatMovedIsStillTheSame) {
  EXPECT_EQ(
      update("spec: {env: [{name: 'A B', value: x}]}", "spec: {env: [{name: C, value: z}, {name: 'A B', value: x}]}"),
      (Lines{"warning spec.env[1].name env-name"}));
  EXPECT_EQ(update("spec: {tolerations: [{key: a, operator: Exists, value: b}]}",
                   "spec: {tolerations: [{key: c, operator: Exists}, {key: a, operator: Exists, value: b}]}"),
            (Lines{"warning spec.tolerations[1].value toleration-value"}));
  // Another item at the old one's position is another item.
  EXPECT_EQ(update("spec: {tolerations: [{key: a, operator: Exists, value: b}]}",
                   "spec: {tolerations: [{key: d, operator: Exists, value: b}]}"),
            (Lines{"error spec.tolerations[0].value toleration-value"}));
}

TEST(Ratcheting, AMissingFieldStaysMissing) {
  EXPECT_EQ(update("spec: {pvc: {size: null}}", "spec: {pvc: {size: null}, replicas: 0}", Kind::stack_datastore),
            (Lines{"warning spec.pvc.size pvc-create-incomplete"}));
  EXPECT_EQ(update("{}", "spec: {pvc: {size: null}}", Kind::stack_datastore),
            (Lines{"error spec.pvc.size pvc-create-incomplete"}));
}

TEST(Ratcheting, KeysWithBracketsAndDotsAreFound) {
  EXPECT_EQ(update("spec: {labels: {'a]b.c[0': x}}", "spec: {replicas: 2, labels: {'a]b.c[0': x}}"),
            (Lines{"warning spec.labels[a]b.c[0] label-grammar"}));
}

TEST(Ratcheting, NothingIsCheckedOnTheWayOut) {
  EXPECT_EQ(update("metadata: {finalizers: [a/b]}\nspec: {authSecret: Bad_Name}",
                   "metadata: {deletionTimestamp: '2026-11-21T00:00:00Z', finalizers: []}\nspec: {authSecret: "
                   "Bad_Name, replicas: -1}"),
            Lines{});
}

TEST(Ratcheting, NothingIsCheckedWhenOnlyMetadataOrTheStatusChanged) {
  const std::string_view old = "metadata: {finalizers: [a/b]}\nspec: {authSecret: Bad_Name}";
  EXPECT_EQ(update(old, "metadata: {finalizers: [], annotations: {a: b}}\nspec: {authSecret: Bad_Name}"), Lines{});
  EXPECT_EQ(update(old, "spec: {authSecret: Bad_Name}\nstatus: {state: Ready, nonsense: 1}"), Lines{});
  EXPECT_EQ(update(old, "metadata: {labels: {'a b': c}}\nspec: {authSecret: Bad_Name}"),
            (Lines{"error metadata.labels[a b] label-grammar", "warning spec.authSecret object-name"}));
}

TEST(Ratcheting, ImmutablesAreNeverOldFaults) {
  EXPECT_EQ(update("spec: {pvc: {size: 100Gi}}", "spec: {pvc: {size: 99Gi}}", Kind::stack_datastore),
            (Lines{"error spec.pvc.size claim-immutable"}));
  EXPECT_EQ(update("spec: {pvc: {size: 1Gi}}", "spec: {pvc: {size: 1024Mi}}", Kind::stack_datastore), Lines{});
  EXPECT_EQ(update("{}", "spec: {pvc: {storageClass: fast}}", Kind::stack_datastore),
            (Lines{"error spec.pvc.storageClass claim-immutable"}));
  EXPECT_EQ(update("spec: {pvc: {name: a}}", "spec: {pvc: {name: b, size: 1Gi}}", Kind::stack_datastore), Lines{});
}

std::string applied(std::string_view spec, std::string_view more = "") {
  std::string quoted;
  json::append_quoted(
      quoted, R"({"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService","metadata":{"name":"llm"},"spec":{)" +
                  std::string(spec) + "}}");
  return "metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: " + quoted + "}}" +
         std::string(more);
}

TEST(LastApplied, UnknownFieldsThatTheApiServerDroppedAreFaults) {
  const Findings findings = review_of(Kind::inference_service, applied(R"("replica":2)"));
  ASSERT_EQ(short_form(findings), (Lines{"error spec.replica schema-unknown-field"}));
  EXPECT_NE((findings[0].problem + findings[0].fix).find("replicas"), std::string::npos) << to_line(findings[0]);
}

TEST(LastApplied, IsReadOnlyWhenItIsNewOrChanged) {
  EXPECT_EQ(update(applied(R"("replica":2)"), applied(R"("replica":2)", "\nspec: {replicas: 3}")), Lines{});
  EXPECT_EQ(update(applied(R"("replicas":2)"), applied(R"("replica":2)")),
            (Lines{"error spec.replica schema-unknown-field"}));
  EXPECT_EQ(update(applied(R"("replica":2)"), applied(R"("replicas":2)")), Lines{});
}

TEST(LastApplied, WhatIsNoConfigurationOfOursIsLeftAlone) {
  for (const char* text : {"'{'", "'[]'", "''", R"('{"kind":"Pod","spec":{"x":1}}')"})
    EXPECT_EQ(
        short_form(review_of(
            Kind::inference_service,
            std::string("metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: ") + text + "}}")),
        Lines{})
        << text;
}

}  // namespace
}  // namespace stackgate::validate::tests
