// Whole plans of inference services, word for word: golden/inferenceservices.<name>.json. UPDATE_GOLDEN=1 writes them
// anew.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace inference_golden {

constexpr crds::Kind kind = crds::Kind::inference_service;

void expect_golden(const std::string& name, const Planned& planned) {
  const std::filesystem::path file = std::filesystem::path(STACKGATE_SOURCE_DIR) /
                                     "tests/reconcile/plan/golden/inferenceservices" += "." + name + ".json";
  const std::string text = as_list(planned);
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(file, std::ios::binary) << text;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream stored;
  stored << in.rdbuf();
  EXPECT_TRUE(stored.str() == text) << file << " differs; UPDATE_GOLDEN=1 writes it, git diff shows how";
}

TEST(InferenceServiceGolden, TheLeastThatRuns) { expect_golden("minimal", plan_of(minimal(kind))); }

TEST(InferenceServiceGolden, EveryFieldOnTwoNodes) {
  World world;
  world.observed.cache = {.exists = true, .state = "Ready", .claim = "llm-70b-pvc", .sub_path = {}, .message = {}};
  expect_golden("full", plan_of(full(kind), world));
}

TEST(InferenceServiceGolden, OneNodeWithAnAutoscalerAndARoute) {
  World world;
  world.observed.cache = {
      .exists = true, .state = "Ready", .claim = "llm-70b-pvc", .sub_path = "models", .message = {}};
  expect_golden("scaled", plan_of(full(kind,
                                       "spec: {multiNode: , replicas: , scale: {enabled: true}, serviceAccountName: ,"
                                       " expose: {ingress: {enabled: false}, httpRoute: {enabled: true}}}"),
                                  world));
}

}  // namespace inference_golden
}  // namespace stackgate::reconcile::tests
