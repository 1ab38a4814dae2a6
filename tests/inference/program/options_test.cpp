#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/inference/program/program.hpp"
#include "tests/reconcile/plan/planned_settings.hpp"

namespace stackgate::inference {
namespace options_tests {

using reconcile::tests::Environment;

Environment planned(const reconcile::tests::Tree& object) {
  using namespace reconcile::tests;
  World world;
  world.observed.cache = {.exists = true, .state = "Ready", .claim = "models", .sub_path = {}, .message = {}};
  const Planned plan = plan_of(object, world);
  Environment out = environment_of(plan, "Deployment");
  for (const auto& body : plan.bodies)
    if (body["kind"] == "LeaderWorkerSet")
      for (const char* each : {"leaderTemplate", "workerTemplate"})
        take_environment(body["spec"]["leaderWorkerTemplate"][each], out);
  EXPECT_FALSE(out.empty());
  return out;
}

constexpr crds::Kind kind = crds::Kind::inference_service;
constexpr std::string_view with_cache = "spec: {storage: {nimCache: {name: llm-cache}}}";

/// Of the operator's layout over several nodes, which this server refuses by INF_TENSOR_PARALLELISM.
const std::set<std::string> of_several_nodes{"INF_NODE_ROLE",     "INF_NODE_RANK",        "INF_GROUP_INDEX",
                                             "INF_NODE_COUNT",    "INF_GPUS_PER_NODE",    "INF_SSH_KEY_FILE",
                                             "INF_MPI_HOST_FILE", "INF_MPI_START_TIMEOUT"};

/// Those that the specification tells users to write into `env`.
const std::set<std::string> of_users{"INF_PEFT_SOURCE", "INF_PEFT_REFRESH_INTERVAL", "INF_MAX_CPU_LORAS",
                                     "INF_MAX_GPU_LORAS"};

settings::Outcome read(const Environment& environment, const std::vector<const char*>& flags = {}) {
  auto out = reconcile::tests::read_settings(program(), environment, flags);
  for (auto& finding : check_options(out.values)) out.findings.push_back(std::move(finding));
  return out;
}

std::vector<std::string> paths(const validate::Findings& findings) {
  std::vector<std::string> out;
  for (const auto& each : findings) out.push_back(each.path);
  return out;
}

TEST(InferenceOptions, read_all_that_the_operators_plan_gives_a_server) {
  const std::set<std::string> known = reconcile::tests::variables_of(program());
  const auto ours = [](const std::string& name) { return name.starts_with("INF_") || name.starts_with("STACKGATE_"); };
  std::size_t read_by_us = 0;
  for (const auto& object : {reconcile::tests::full(kind, "{}"), reconcile::tests::minimal(kind, with_cache)})
    for (const auto& [name, value] : planned(object)) {
      EXPECT_TRUE(known.contains(name) || of_several_nodes.contains(name) || !ours(name)) << name;
      read_by_us += known.contains(name) ? 1 : 0;
    }
  EXPECT_GT(read_by_us, 4U);
  // And what we read by such names is given by the plan, or is the specification's for `env`.
  Environment given = planned(reconcile::tests::full(kind, "{}"));
  given.merge(planned(reconcile::tests::minimal(kind, with_cache)));
  for (const std::string& name : known)
    EXPECT_TRUE(!name.starts_with("INF_") || given.contains(name) || of_users.contains(name)) << name;
  for (const std::string& name : of_users) EXPECT_TRUE(known.contains(name)) << name;
}

TEST(InferenceOptions, a_planned_server_serves_what_is_mounted) {
  const Environment environment = planned(reconcile::tests::minimal(kind, with_cache));
  const auto got = read(environment);
  EXPECT_TRUE(got.findings.empty()) << settings::to_text(program(), got.findings);
  EXPECT_EQ(model_directory(got.values), environment.at("INF_CACHE_PATH"));
  EXPECT_EQ(model_directory(read(environment, {"--model", "/own"}).values), "/own");
  EXPECT_EQ(got.values.text("listen"), "0.0.0.0:8000");
}

TEST(InferenceOptions, what_cannot_run_is_refused) {
  using ::testing::ElementsAre;
  EXPECT_THAT(paths(read({}).findings), ElementsAre("--model"));
  EXPECT_THAT(paths(read({{"INF_MAX_GPU_LORAS", "9"}, {"INF_MAX_CPU_LORAS", "3"}}, {"--model", "m"}).findings),
              ElementsAre("--max-cpu-loras (INF_MAX_CPU_LORAS)"));
  EXPECT_THAT(paths(read({{"INF_TENSOR_PARALLELISM", "8"}, {"INF_MODEL_PROFILE", "p"}}, {"--model", "m"}).findings),
              ElementsAre("--tensor-parallelism", "--model-profile (INF_MODEL_PROFILE)"));
  EXPECT_THAT(paths(read({}, {"--model", "m", "--allow-runtime-lora"}).findings), ElementsAre("--adapter-dir"));
  EXPECT_TRUE(read({}, {"check", "m"}).findings.empty());
}

TEST(InferenceOptions, a_type_that_the_device_does_not_compute_in_is_refused) {
  using ::testing::ElementsAre, ::testing::IsEmpty;
  EXPECT_THAT(paths(read({}, {"--model", "m", "--device", "cpu", "--dtype", "float16"}).findings),
              ElementsAre("--dtype"));
  EXPECT_THAT(paths(read({}, {"--model", "m", "--device", "cuda", "--dtype", "float16"}).findings), IsEmpty());
  const auto half = read({}, {"--model", "m", "--dtype", "float16"});  // auto: known when libtorch is loaded
  EXPECT_THAT(paths(half.findings), IsEmpty());
  EXPECT_FALSE(placement_on(model::Device::cpu, half.values, {}));
  EXPECT_EQ(placement_on(model::Device::cuda, half.values, {}).value().dtype, model::Dtype::f16);
  EXPECT_EQ(asked_device(half.values), std::nullopt);
}

TEST(InferenceOptions, the_cache_is_no_larger_than_what_can_be_used) {
  const auto got = read({}, {"--model", "m", "--kv-cache", "1Gi", "--max-sequences", "4"});
  BaseModel model;
  model.directory.config = {.hidden = 8, .layers = 2, .heads = 2, .key_value_heads = 2, .head_width = 4};
  model.limits.context = 160;
  const EngineOptions options = engine_options(got.values, model, {});
  EXPECT_EQ(options.limits.pages, 4U * 11);
  const auto small = read({}, {"--model", "m", "--kv-cache", "1Mi"});
  EXPECT_EQ(memory_plan(engine_options(small.values, model, {}), model, {}).cache_per_token, 2U * 2 * 2 * 4 * 4);
  const model::Placement half{model::Device::cpu, model::Dtype::bf16};
  EXPECT_EQ(memory_plan(engine_options(small.values, model, half), model, half).cache_per_token, 2U * 2 * 2 * 4 * 2);
}

}  // namespace options_tests
}  // namespace stackgate::inference
