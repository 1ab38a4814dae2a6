#include "services/trainer/checkpoint/state.hpp"

#include <gtest/gtest.h>

namespace stackgate::trainer {
namespace {

TEST(TrainingState, comes_back_to_the_bit) {
  const TrainingState state{.step = 123,
                            .fingerprint = 0x00f00000deadbeef,
                            .loss_sum = 1.0 / 3,
                            .trained_tokens = 7,
                            .tokens = 9,
                            .seconds = 2,
                            .val_loss = 0.1 + 0.2,
                            .best_val_loss = 1e-300,
                            .worse_validations = 2};
  const auto read = read_state(write_state(state));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->step, state.step);
  EXPECT_EQ(read->fingerprint, state.fingerprint);
  EXPECT_EQ(read->loss_sum, state.loss_sum);
  EXPECT_EQ(read->trained_tokens, state.trained_tokens);
  EXPECT_EQ(read->tokens, state.tokens);
  EXPECT_EQ(read->seconds, state.seconds);
  EXPECT_EQ(read->val_loss, state.val_loss);
  EXPECT_EQ(read->best_val_loss, state.best_val_loss);
  EXPECT_EQ(read->worse_validations, state.worse_validations);
  EXPECT_FALSE(read_state(write_state({}))->val_loss);
}

TEST(TrainingState, what_is_none_is_refused) {
  for (
      const std::string_view text :
      {"", "[]", "{}", R"({"format":2})", R"({"format":1,"step":1})",
       R"({"format":1,"step":-1,"fingerprint":"0123456789abcdef","loss_sum":1,"trained_tokens":1,"tokens":1,"seconds":1})",
       R"({"format":1,"step":1,"fingerprint":"0123","loss_sum":1,"trained_tokens":1,"tokens":1,"seconds":1})",
       R"({"format":1,"step":1,"fingerprint":"0123456789abcdeg","loss_sum":1,"trained_tokens":1,"tokens":1,"seconds":1})"})
    EXPECT_FALSE(read_state(text)) << text;
}

}  // namespace
}  // namespace stackgate::trainer
