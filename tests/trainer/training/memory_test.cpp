#include "services/trainer/training/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::trainer {
namespace {

model::Config config_150m() {
  model::Config out;
  out.hidden = 1024, out.intermediate = 2816, out.layers = 12, out.heads = out.key_value_heads = 16,
  out.head_width = 64;
  return out;
}

// tests/bench/trainer_bench.cpp measures 495 MB besides the weights, 120 of them libtorch's own.
TEST(Memory, is_about_what_a_run_takes) {
  const MemoryOf of{
      .base_parameters = 220'000'000, .trained_parameters = 5'000'000, .longest = 128, .pass_tokens = 256};
  const auto estimate = estimate_memory(config_150m(), of, false);
  EXPECT_EQ(estimate.weights, 880'000'000U);
  EXPECT_EQ(estimate.trained, 80'000'000U);
  EXPECT_GT(estimate.activations, 300'000'000U);
  EXPECT_LT(estimate.activations, 600'000'000U);
  EXPECT_LT(estimate_memory(config_150m(), of, true).activations, estimate.activations / 3);
}

TEST(Memory, passes_have_as_many_tokens_as_the_step_at_most) {
  model::Hyperparameters p;
  EXPECT_EQ(most_tokens_of_pass(p, 100), 800U) << "a batch of eight";
  EXPECT_EQ(most_tokens_of_pass(p, 1000), 2048U);
  EXPECT_EQ(most_tokens_of_pass(p, 5000), 5000U);
  p.micro_batch_size = 3;
  EXPECT_EQ(most_tokens_of_pass(p, 1000), 3000U);
  p.sequence_packing_enabled = true;
  EXPECT_EQ(most_tokens_of_pass(p, 1000), 1000U);
}

TEST(Memory, what_does_not_fit_is_told_with_both_numbers) {
  const MemoryEstimate estimate{.weights = 8'000'000'000, .trained = 100'000'000, .activations = 2'900'000'000};
  EXPECT_FALSE(fault_of_memory(estimate, 11'000'000'000));
  EXPECT_THAT(
      fault_of_memory(estimate, 4'000'000'000).value(),
      testing::AllOf(testing::HasSubstr("about 11.0 GB (8.0 for weights"), testing::HasSubstr("there are 4.0 GB")));
}

}  // namespace
}  // namespace stackgate::trainer
