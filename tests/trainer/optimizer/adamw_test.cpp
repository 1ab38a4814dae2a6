#include "services/trainer/optimizer/adamw.hpp"

#include <gtest/gtest.h>

namespace stackgate::trainer {
namespace {

// torch.optim.AdamW([w], lr=0.1, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.1), by hand in double precision: of
// constant gradients both bias corrections cancel, so that each step is decay, then lr * sign(gradient).
TEST(AdamW, constant_gradients_move_by_the_rate_after_the_decay) {
  std::vector<float> values{1, -2, 0.5F};
  const std::vector<float> gradients{0.3F, -7, 0};
  Moments moments{std::vector<float>(3), std::vector<float>(3)};
  double expected[] = {1, -2, 0.5};
  for (std::uint64_t step = 1; step <= 5; ++step) {
    adamw(values, gradients, moments, {.beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8, .weight_decay = 0.1}, 0.1, step);
    const double moves[] = {-0.1, 0.1, 0};
    for (int i = 0; i < 3; ++i) {
      expected[i] = expected[i] * (1 - 0.1 * 0.1) + moves[i];
      EXPECT_NEAR(values[static_cast<std::size_t>(i)], expected[i], 1e-6) << step;
    }
  }
}

TEST(AdamW, remembers_what_came_before) {
  std::vector<float> values{0};
  Moments moments{{0}, {0}};
  const AdamSettings settings{.beta1 = 0.5, .beta2 = 0.5, .epsilon = 0, .weight_decay = 0};
  adamw(values, std::vector<float>{2}, moments, settings, 1, 1);
  EXPECT_FLOAT_EQ(values[0], -1);
  adamw(values, std::vector<float>{-1}, moments, settings, 1, 2);
  // m = 0.5·1 + 0.5·(-1) = 0, of 1 - 0.25
  EXPECT_FLOAT_EQ(values[0], -1);
  EXPECT_FLOAT_EQ(moments.first[0], 0);
  EXPECT_FLOAT_EQ(moments.second[0], 1.5F);
}

TEST(Clip, scales_what_is_too_long_and_nothing_else) {
  std::vector<float> values{3, 4};
  EXPECT_DOUBLE_EQ(norm(values), 5);
  clip(values, 5, 10);
  EXPECT_FLOAT_EQ(values[0], 3);
  clip(values, 5, 0);
  EXPECT_FLOAT_EQ(values[0], 3);
  clip(values, 5, 1);
  EXPECT_NEAR(values[0], 0.6, 1e-6);
  EXPECT_NEAR(values[1], 0.8, 1e-6);
}

}  // namespace
}  // namespace stackgate::trainer
