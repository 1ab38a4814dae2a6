#include "services/trainer/data/order.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/trainer/data/random.hpp"

namespace stackgate::trainer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Order, is_a_permutation_of_seed_and_epoch) {
  const auto first = permutation(42, 0, 1000);
  std::vector<std::uint32_t> sorted = first;
  std::ranges::sort(sorted);
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(sorted[i], i);
  EXPECT_EQ(first, permutation(42, 0, 1000));
  EXPECT_NE(first, permutation(42, 1, 1000));
  EXPECT_NE(first, permutation(43, 0, 1000));
  EXPECT_THAT(permutation(42, 0, 0), IsEmpty());
  EXPECT_THAT(permutation(42, 0, 1), ElementsAre(0));
}

// A checkpoint is worth something only as long as later builds draw the same.
TEST(Order, does_not_change) { EXPECT_THAT(permutation(42, 3, 8), ElementsAre(6, 7, 3, 4, 1, 0, 5, 2)); }

TEST(Order, each_order_comes_about_equally_often) {
  std::map<std::vector<std::uint32_t>, int> counts;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) ++counts[permutation(seed, 0, 3)];
  EXPECT_EQ(counts.size(), 6U);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 120);
}

TEST(Order, micro_batches_keep_the_order_and_the_limits) {
  const std::uint32_t lengths[] = {5, 4, 3, 12, 1};
  EXPECT_THAT(micro_batches(lengths, {.tokens = 10}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3), ElementsAre(4)));
  EXPECT_THAT(micro_batches(lengths, {.examples = 2, .tokens = 100}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
  EXPECT_THAT(micro_batches({}, {.tokens = 10}), IsEmpty());
}

TEST(Order, packing_fills_what_has_room) {
  const std::uint32_t lengths[] = {5, 4, 3, 12, 1, 7};
  EXPECT_THAT(micro_batches(lengths, {.tokens = 10, .packed = true}),
              ElementsAre(ElementsAre(0, 1, 4), ElementsAre(2, 5), ElementsAre(3)));
}

TEST(Order, random_numbers_are_of_one_measure) {
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const double x = uniform(key_of(42, 1, 2), i);
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x, squares += x * x;
  }
  EXPECT_NEAR(sum / 1e5, 0.5, 0.005);
  EXPECT_NEAR(squares / 1e5, 1.0 / 3, 0.005);
}

}  // namespace
}  // namespace stackgate::trainer
