#include "services/customizer/runs/cluster/accelerators.hpp"

#include <gmock/gmock.h>

#include "services/kit/kube/object.hpp"
#include "tests/customizer/objects/objects_support.hpp"

namespace stackgate::customizer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* training_pool = R"("pool":"training")";

std::string node(const std::string& labels, const std::string& gpus = R"("nvidia.com/gpu":"2")") {
  return R"({"metadata":{"labels":{)" + labels + R"(}},"status":{"allocatable":{)" + gpus + "}}}";
}

validate::Findings judged(const std::string& nodes, const Target& target,
                          ContainerDefaults defaults = tests::full_defaults(), std::uint32_t gpus = 1,
                          const std::string& rest = "") {
  bool valid = false;
  const auto list =
      kube::Object::parse(R"({"metadata":{"continue":")" + rest + R"("},"items":[)" + nodes + "]}", valid);
  EXPECT_TRUE(valid) << nodes;
  TrainingJob job = tests::full_job();
  job.target = target;
  job.option.num_gpus = gpus;
  return judge_accelerators(list.root(), job, defaults);
}

const Target eight_billion{.num_parameters = 8'000'000'000, .precision = "bf16"};

TEST(EstimatedMemory, is_of_the_weights_and_a_fifth_more) {
  EXPECT_EQ(estimated_memory({}), 0U);
  EXPECT_EQ(estimated_memory(eight_billion), 19'200'000'000U);
  EXPECT_EQ(estimated_memory({.num_parameters = 1'000, .precision = "float32"}), 4'800U);
  EXPECT_EQ(estimated_memory({.num_parameters = 1'000, .precision = "FP8"}), 1'200U);
  EXPECT_EQ(estimated_memory({.num_parameters = 1'000}), 2'400U);
}

TEST(Accelerators, that_are_all_too_small_are_a_warning) {
  const std::string small = node(std::string(training_pool) + R"(,"nvidia.com/gpu.memory":"15360")"),
                    large = node(std::string(training_pool) + R"(,"nvidia.com/gpu.memory":"81559")"),
                    unknown = node(training_pool), elsewhere = node(R"("nvidia.com/gpu.memory":"81559")"),
                    without = node(std::string(training_pool) + R"(,"nvidia.com/gpu.memory":"81559")",
                                   R"("nvidia.com/gpu":"0")");
  const auto found = judged(small + "," + elsewhere + "," + without, eight_billion);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_FALSE(validate::has_errors(found));
  EXPECT_EQ(found[0].path, "model");
  EXPECT_THAT(found[0].problem,
              HasSubstr("needs about 17.9 GiB on each accelerator (8000000000 parameters of 2 bytes"));
  EXPECT_THAT(found[0].problem, HasSubstr("no node's nvidia.com/gpu has more than 15.0 GiB"));
  EXPECT_THAT(judged(small + "," + large, eight_billion), IsEmpty());
  EXPECT_THAT(judged(small + "," + unknown, eight_billion), IsEmpty()) << "one that may have enough";
  EXPECT_THAT(judged(small, {.num_parameters = 1'000'000'000}), IsEmpty());
  EXPECT_THAT(judged(small, {}), IsEmpty()) << "a model of an unknown size";
  EXPECT_THAT(judged("", eight_billion), IsEmpty());
  EXPECT_THAT(judged(small, eight_billion, tests::full_defaults(), 0), IsEmpty()) << "on a node's CPU";
  EXPECT_THAT(judged(small, eight_billion, tests::full_defaults(), 1, "more"), IsEmpty()) << "some of the nodes";
}

TEST(Accelerators, of_another_make_have_another_label) {
  ContainerDefaults defaults;
  defaults.gpu_resource = "amd.com/gpu";
  EXPECT_THAT(judged(node(R"("amd.com/gpu.vram":"16G")", R"("amd.com/gpu":1)"), eight_billion, defaults), SizeIs(1));
  EXPECT_THAT(judged(node(R"("amd.com/gpu.vram":"64G")", R"("amd.com/gpu":1)"), eight_billion, defaults), IsEmpty());
  EXPECT_THAT(judged(node(R"("amd.com/gpu.memory":"many")", R"("amd.com/gpu":1)"), eight_billion, defaults), IsEmpty());
}

}  // namespace
}  // namespace stackgate::customizer
