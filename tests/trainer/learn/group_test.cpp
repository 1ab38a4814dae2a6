#include "services/trainer/learn/group.hpp"

#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/free_port.hpp"

namespace stackgate::trainer {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class GroupTest : public testing::Test {
 protected:
  void SetUp() override {
#ifndef STACKGATE_GLOO
    GTEST_SKIP() << "built without libgloo-dev";
#endif
  }
};

/// The same at each rank, on a thread for each.
template <class Work>
void at_all_ranks(std::uint32_t size, std::chrono::milliseconds limit, const Work& work) {
  const auto port = bench::free_port();
  std::vector<std::jthread> ranks;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    ranks.emplace_back([=, &work] {
      auto group = Group::open(
          {.rank = rank, .size = size, .address = "127.0.0.1", .port = port, .interface = "lo", .limit = limit});
      ASSERT_TRUE(group) << group.error();
      work(std::move(*group));
    });
}

TEST_F(GroupTest, sums_over_all_ranks_with_the_same_bits_everywhere) {
  std::vector<std::vector<float>> results(3);
  at_all_ranks(3, 20s, [&](std::unique_ptr<Group> group) {
    EXPECT_EQ(group->size(), 3U);
    std::vector<float> values(100'003);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 0.1F * static_cast<float>(i % 97 + group->rank() * 1000);
    ASSERT_TRUE(group->sum(values));
    std::vector<double> few{static_cast<double>(group->rank()), 1};
    ASSERT_TRUE(group->sum(few));
    EXPECT_EQ(few, (std::vector<double>{3, 3}));
    results[group->rank()] = std::move(values);
  });
  ASSERT_FALSE(results[0].empty());
  EXPECT_NEAR(results[0][5], 0.1 * (3 * 5 + 3000), 1e-3);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST_F(GroupTest, gives_all_ranks_what_the_first_has) {
  at_all_ranks(2, 20s, [&](std::unique_ptr<Group> group) {
    std::string text = group->rank() == 0 ? "of rank 0" : "of others";
    ASSERT_TRUE(group->broadcast(std::as_writable_bytes(std::span(text))));
    EXPECT_EQ(text, "of rank 0");
    EXPECT_TRUE(group->broadcast({})) << "nothing to say";
  });
}

TEST_F(GroupTest, a_rank_that_goes_away_is_an_error_at_once) {
  const auto begin = std::chrono::steady_clock::now();
  at_all_ranks(2, 60s, [&](std::unique_ptr<Group> group) {
    if (group->rank() == 1) return;
    std::vector<float> values(1000);
    const auto done = group->sum(values);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error(), HasSubstr("another of the 2 processes is lost, or took longer than 60 s: "));
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

TEST_F(GroupTest, a_rank_that_is_too_slow_is_an_error_within_the_limit) {
  std::promise<void> over;
  at_all_ranks(2, 6s, [&](std::unique_ptr<Group> group) {
    if (group->rank() == 1) return over.get_future().wait();
    std::vector<float> values(1000);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(group->sum(values));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
    over.set_value();
  });
}

TEST_F(GroupTest, ranks_that_do_not_come_are_an_error_within_the_limit) {
  for (const std::uint32_t rank : {0U, 1U}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto group = Group::open(
        {.rank = rank, .size = 2, .address = "127.0.0.1", .port = bench::free_port(), .interface = "lo", .limit = 2s});
    ASSERT_FALSE(group);
    EXPECT_THAT(group.error(), HasSubstr("the 2 processes did not meet at 127.0.0.1:"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  }
}

}  // namespace
}  // namespace stackgate::trainer
