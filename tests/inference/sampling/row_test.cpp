#include "services/inference/sampling/row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "services/inference/sampling/log_probs.hpp"
#include "services/inference/sampling/philox.hpp"
#include "tests/inference/sampling/slow_sampler.hpp"
#include "tests/support/dice.hpp"

namespace stackgate::inference {
namespace {

constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

std::vector<float> noise(testing::Dice& dice, std::size_t size, std::uint32_t steps) {
  std::vector<float> row(size);
  for (float& each : row) each = static_cast<float>(dice.roll(steps)) / static_cast<float>(steps) * 20 - 10;
  return row;
}

TEST(Philox, answers_of_its_authors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}), (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, each_draw_of_its_own) {
  const Draw draw{.seed = 7, .choice = 1, .position = 3};
  EXPECT_EQ(uniform(draw), uniform(draw));
  for (const Draw& other :
       {Draw{8, 1, 3}, Draw{7, 2, 3}, Draw{7, 1, 4}, Draw{7ULL | 1ULL << 63U, 1, 3}, Draw{7, 1, 3ULL | 1ULL << 32U}})
    EXPECT_NE(uniform(draw), uniform(other));
  double sum = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const double one = uniform({.seed = i, .choice = 0, .position = i});
    EXPECT_GE(one, 0);
    EXPECT_LT(one, 1);
    sum += one;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(Row, largest_is_the_first_of_equals) {
  testing::Dice dice(11);
  for (const std::size_t size : {1U, 3U, 4U, 15U, 16U, 17U, 63U, 2048U, 2049U, 9001U})
    for (const std::uint32_t steps : {1U, 3U, 1000U}) {
      const std::vector<float> row = noise(dice, size, steps);
      const auto expected = std::ranges::max_element(row);
      EXPECT_EQ(largest(row).id, expected - row.begin());
      EXPECT_EQ(largest(row).value, *expected);
    }
  EXPECT_EQ(largest(std::vector<float>{no_number, -1, no_number, 2, no_number}).id, 3U);
  EXPECT_EQ(largest(std::vector<float>{no_number, -test::infinity}).value, -test::infinity);
  EXPECT_EQ(largest({}).value, -test::infinity);
}

TEST(Row, best_as_a_whole_sort_has_them) {
  testing::Dice dice(12);
  std::vector<Scored> best;
  for (const std::uint32_t steps : {2U, 50U, 100'000U})
    for (const std::uint32_t count : {0U, 1U, 5U, 20U, 300U}) {
      const std::vector<float> row = noise(dice, 200 + dice.roll(400), steps);
      std::vector<Scored> all;
      for (std::size_t id = 0; id < row.size(); ++id) all.push_back({static_cast<TokenId>(id), row[id]});
      std::ranges::stable_sort(all, [](const Scored& a, const Scored& b) { return a.value > b.value; });
      best_of_row(row, count, best);
      ASSERT_EQ(best.size(), std::min<std::size_t>(count, row.size()));
      for (std::size_t i = 0; i < best.size(); ++i) EXPECT_EQ(best[i].id, all[i].id);
    }
}

TEST(Row, exponentials_are_those_of_the_library) {
  std::vector<float> row, weights;
  std::vector<double> sums;
  for (float x = 0; x > -90; x -= 0.0173F) row.push_back(x);
  exponential_weights(row, 0, 1, 0, weights, sums);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double expected = row[i] < -87 ? 0 : std::exp(static_cast<double>(row[i]));
    EXPECT_NEAR(static_cast<double>(weights[i]), expected, 2e-7 * expected) << row[i];
  }
  EXPECT_EQ(weights[0], 1);
  exponential_weights(row, 0, 1, 0.5F, weights, sums);
  EXPECT_EQ(weights[41], 0);  // exp(-0.709) is the first below
  EXPECT_GT(weights[40], 0.5F);
}

TEST(LogProbs, of_the_raw_row) {
  testing::Dice dice(13);
  for (const std::uint32_t steps : {3U, 1000U}) {
    const std::vector<float> row = noise(dice, 1003, steps);
    double sum = 0;
    for (const float each : row) sum += std::exp(static_cast<double>(each));
    const LogProbs got = log_probs(row, 17, 5);
    EXPECT_NEAR(static_cast<double>(got.chosen), static_cast<double>(row[17]) - std::log(sum), 1e-6);
    ASSERT_GE(got.top.size(), 5U);
    EXPECT_TRUE(std::ranges::is_sorted(got.top.begin(), got.top.begin() + 5, std::greater{}, &TokenLogProb::log_prob));
    const auto own = std::ranges::find(got.top, 17U, &TokenLogProb::id);
    ASSERT_NE(own, got.top.end());
    EXPECT_EQ(own->log_prob, got.chosen);  // to the bit
    // What lm-eval asks: a choice is greedy when its number equals the largest of the map.
    const LogProbs greedy = log_probs(row, largest(row).id, 1);
    EXPECT_EQ(greedy.chosen, greedy.top.front().log_prob);
    EXPECT_EQ(greedy.top.size(), 1U);
  }
  const LogProbs none = log_probs(std::vector<float>{1, 2, 3}, 0, 0);
  EXPECT_EQ(none.top, (std::vector<TokenLogProb>{{0, none.chosen}}));
  EXPECT_EQ(log_probs(std::vector<float>{1, 2, 3}, 0, 20).top.size(), 3U);
  EXPECT_EQ(log_probs(std::vector<float>{1, -test::infinity}, 1, 1).chosen, -test::infinity);
}

}  // namespace
}  // namespace stackgate::inference
