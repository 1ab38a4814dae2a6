// Whole plans of inference services, word for word: golden/inferenceservices.<name>.json. UPDATE_GOLDEN=1 writes them
// anew.
#include <gtest/gtest.h>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace inference_golden {

constexpr crds::Kind kind = crds::Kind::inference_service;

TEST(InferenceServiceGolden, TheLeastThatRuns) {
  expect_golden("inferenceservices.minimal", as_list(plan_of(minimal(kind))));
}

TEST(InferenceServiceGolden, EveryFieldOnTwoNodes) {
  World world;
  world.observed.cache = {.exists = true, .state = "Ready", .claim = "llm-70b-pvc", .sub_path = {}, .message = {}};
  expect_golden("inferenceservices.full", as_list(plan_of(full(kind), world)));
}

TEST(InferenceServiceGolden, OneNodeWithAnAutoscalerAndARoute) {
  World world;
  world.observed.cache = {
      .exists = true, .state = "Ready", .claim = "llm-70b-pvc", .sub_path = "models", .message = {}};
  const Planned planned = plan_of(full(kind,
                                       "spec: {multiNode: , replicas: , scale: {enabled: true}, serviceAccountName: ,"
                                       " expose: {ingress: {enabled: false}, httpRoute: {enabled: true}}}"),
                                  world);
  expect_golden("inferenceservices.scaled", as_list(planned));
}

}  // namespace inference_golden
}  // namespace stackgate::reconcile::tests
