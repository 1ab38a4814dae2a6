#include "services/trainer/checkpoint/checkpoint.hpp"

#include <filesystem>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/trainer/checkpoint/tensors.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() {
    std::iota(values_.begin(), values_.end(), 1.0F);
    std::iota(moments_.first.begin(), moments_.first.end(), 10.0F);
    std::iota(moments_.second.begin(), moments_.second.end(), 100.0F);
  }
  std::expected<std::string, std::string> save(std::uint64_t step) {
    return save_checkpoint(folder_ / "run", {.step = step, .fingerprint = 5}, parameters_, values_, moments_, "{}",
                           [&](std::string_view point) {
                             if (point == dies_at_) throw 1;
                           });
  }
  test::TempDir folder_;
  const std::vector<Parameter> parameters_{{"b.x", {2, 3}, 0, 6}, {"a.y", {4}, 6, 4}};
  std::vector<float> values_ = std::vector<float>(10);
  Moments moments_{std::vector<float>(10), std::vector<float>(10)};
  std::string dies_at_;
};

TEST_F(CheckpointTest, comes_back_whole) {
  ASSERT_EQ(save(7), folder_ / "run/checkpoint-7");
  std::vector<float> values(10);
  Moments moments{std::vector<float>(10), std::vector<float>(10)};
  const auto state = load_checkpoint(newest_checkpoint(folder_ / "run").value(), 5, parameters_, values, moments);
  ASSERT_TRUE(state) << state.error();
  EXPECT_EQ(state->step, 7U);
  EXPECT_EQ(values, values_);
  EXPECT_EQ(moments.first, moments_.first);
  EXPECT_EQ(moments.second, moments_.second);
}

TEST_F(CheckpointTest, two_are_kept_and_the_newest_is_taken_by_number) {
  for (const std::uint64_t step : {9U, 10U, 100U}) ASSERT_TRUE(save(step));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/checkpoint-9"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "run/checkpoint-10"));
  EXPECT_EQ(newest_checkpoint(folder_ / "run"), folder_ / "run/checkpoint-100");
}

TEST_F(CheckpointTest, one_that_was_not_finished_is_none) {
  ASSERT_TRUE(save(1));
  dies_at_ = "checkpoint-written";
  EXPECT_THROW((void)save(2), int);
  EXPECT_EQ(newest_checkpoint(folder_ / "run"), folder_ / "run/checkpoint-1");
  dies_at_ = "checkpoint-moved";
  EXPECT_THROW((void)save(2), int);
  EXPECT_EQ(newest_checkpoint(folder_ / "run"), folder_ / "run/checkpoint-2");
  EXPECT_FALSE(newest_checkpoint(folder_ / "nowhere"));
}

TEST_F(CheckpointTest, of_another_run_or_other_shapes_is_refused) {
  const std::string place = save(1).value();
  EXPECT_THAT(load_checkpoint(place, 6, parameters_, values_, moments_).error(), HasSubstr("is of another run"));
  const std::vector<Parameter> other{{"b.x", {2, 3}, 0, 6}, {"a.z", {4}, 6, 4}};
  EXPECT_THAT(load_checkpoint(place, 5, other, values_, moments_).error(), HasSubstr("lacks a.z"));
}

TEST_F(CheckpointTest, a_broken_file_is_refused) {
  const std::string place = save(1).value();
  std::filesystem::resize_file(place + "/optimizer.safetensors", 100);
  EXPECT_FALSE(load_checkpoint(place, 5, parameters_, values_, moments_));
  EXPECT_THAT(write_file(folder_ / "nowhere/x", "").error(), HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace stackgate::trainer
