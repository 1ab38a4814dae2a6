#include "validators/children.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/validators/rules/samples.hpp"

namespace stackgate::validate::tests {
namespace {

std::vector<std::string> children(crds::Kind kind, std::string_view patch) {
  const auto object = sample(kind, patch);
  std::vector<std::string> out;
  for (const Child& each : children_of(kind, "n", *object->value().find("spec")))
    out.push_back(std::string(each.kind) + " " + each.name);
  std::ranges::sort(out);
  return out;
}

using Names = std::vector<std::string>;

TEST(Children, AWorkloadHasADeploymentAServiceAndAnIdentity) {
  EXPECT_EQ(children(crds::Kind::inference_service, "{}"),
            (Names{"Deployment n", "Role n", "RoleBinding n", "Service n", "ServiceAccount n"}));
  EXPECT_EQ(children(crds::Kind::stack_guardrail,
                     "spec: {serviceAccountName: x, expose: {ingress: {enabled: true}}, metrics: {enabled: true}}"),
            (Names{"Deployment n", "Ingress n", "Service n", "ServiceMonitor n"}));
}

TEST(Children, SeveralNodesMakeAGroup) {
  EXPECT_EQ(
      children(crds::Kind::inference_service, "spec: {serviceAccountName: x, multiNode: {size: 2}}"),
      (Names{"ConfigMap n-mpi-config", "LeaderWorkerSet n-lws", "Secret n-ssh-pk", "Service n", "Service n-lws"}));
}

TEST(Children, ACustomizerWritesDownHowJobsRun) {
  EXPECT_EQ(children(crds::Kind::stack_customizer, "spec: {serviceAccountName: x}"),
            (Names{"ConfigMap n-jobs", "Deployment n", "PersistentVolumeClaim n-pvc", "Service n"}));
}

TEST(Children, AnEvaluatorGivesRightsToItsWorkflowsWhoeverItRunsAs) {
  EXPECT_EQ(children(crds::Kind::stack_evaluator, "spec: {serviceAccountName: x}"),
            (Names{"Deployment n", "Role n-workflows", "RoleBinding n-workflows", "Service n"}));
  const Names own = children(crds::Kind::stack_evaluator, "{}");
  EXPECT_TRUE(std::ranges::count(own, "Role n") == 1 && std::ranges::count(own, "Role n-workflows") == 1);
}

TEST(Children, ACacheIsFilledByAJobThatReportsItsProgress) {
  EXPECT_EQ(children(crds::Kind::inference_cache, "spec: {storage: {pvc: {name: x, create: false}}}"),
            (Names{"ConfigMap n-puller", "Job n", "Role n-puller", "RoleBinding n-puller", "ServiceAccount n-puller"}));
}

TEST(Children, AClaimIsNamedOrDerived) {
  const auto claims = [](std::string_view patch) {
    Names names = children(crds::Kind::inference_cache, patch);
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("PersistentVolumeClaim"); });
    return names;
  };
  EXPECT_EQ(claims("{}"), Names{"PersistentVolumeClaim n-pvc"});
  EXPECT_EQ(claims("spec: {storage: {pvc: {name: x}}}"), Names{"PersistentVolumeClaim x"});
  EXPECT_EQ(claims("spec: {storage: {pvc: {name: x, create: false}}}"), Names{});
}

TEST(Children, APipelineOwnsTheServicesNamedInItAndTheirChildren) {
  const Names names = children(crds::Kind::inference_pipeline, "{}");
  EXPECT_TRUE(std::ranges::count(names, "InferenceService assistant-llm") == 1);
  EXPECT_TRUE(std::ranges::count(names, "Service assistant-embedder") == 1);
  const std::string off = "spec: {services: [{name: a, enabled: false, spec: {}}]}";
  EXPECT_EQ(children(crds::Kind::inference_pipeline, off), Names{});
}

TEST(Children, ABrokenObjectHasThoseThatCanBeTold) {
  const Sample broken("{multiNode: [], expose: 7, metrics: {enabled: maybe}, serviceAccountName: 3}");
  EXPECT_EQ(children_of(crds::Kind::inference_service, "n", broken.value()).size(), 5U);
  EXPECT_EQ(neighbour_of(crds::Kind::inference_service, broken.value()).name, "");
}

}  // namespace
}  // namespace stackgate::validate::tests
