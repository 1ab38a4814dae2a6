#include "services/kit/kube/work_queue_core.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::kube::work_queue_core_test {
namespace {

using namespace std::chrono_literals;
using Core = WorkQueueCore<std::string>;
using Time = Core::Time;
using testing::ElementsAre;

constexpr QueueLimits limits{.backoff = {100ms, 1000ms, 2.0}, .low_waits_at_most = 10s};
Time at(std::chrono::milliseconds since_start) { return Time{} + 1h + since_start; }

/// One line of a script: what happens at a time, and what it answers ("-" for nothing).
struct Step {
  std::chrono::milliseconds time;
  std::string call;  // "add", "low", "after MS", "backoff", "forget", "take", "done", "shut"
  std::string key;
  std::string answer;
};
struct Story {
  const char* name;
  std::vector<Step> steps;
};

std::string perform(Core& core, const Step& step) {
  const Time now = at(step.time);
  if (step.call == "add") return core.add(step.key, Priority::normal, now) ? "ready" : "-";
  if (step.call == "low") return core.add(step.key, Priority::low, now) ? "ready" : "-";
  if (step.call == "forget") core.forget(step.key);
  if (step.call == "shut") core.shut_down();
  if (step.call == "done") return core.done(step.key, now) ? "again" : "-";
  if (step.call.starts_with("after "))
    core.add_after(step.key, std::chrono::milliseconds(std::stoi(step.call.substr(6))), Priority::normal, now);
  if (step.call.starts_with("low after "))
    core.add_after(step.key, std::chrono::milliseconds(std::stoi(step.call.substr(10))), Priority::low, now);
  if (step.call == "take") {
    const auto taken = core.take(now);
    return taken ? taken->key : "-";
  }
  return "-";
}

class WorkQueueStories : public testing::TestWithParam<Story> {};

TEST_P(WorkQueueStories, is_told_as_it_happens) {
  Core core(limits, Jitter(1));
  for (const Step& step : GetParam().steps)
    ASSERT_EQ(perform(core, step), step.answer) << step.time.count() << " ms " << step.call << " " << step.key;
}

INSTANTIATE_TEST_SUITE_P(
    Stories, WorkQueueStories,
    testing::Values(
        Story{"a_key_added_twice_is_handed_out_once",
              {{0ms, "add", "a", "ready"},
               {1ms, "add", "a", "-"},
               {2ms, "take", "", "a"},
               {3ms, "take", "", "-"},
               {4ms, "done", "a", "-"},
               {5ms, "take", "", "-"}}},
        Story{"keys_come_in_the_order_in_which_they_were_added",
              {{0ms, "add", "b", "ready"},
               {0ms, "add", "a", "ready"},
               {0ms, "add", "c", "ready"},
               {0ms, "add", "b", "-"},
               {1ms, "take", "", "b"},
               {1ms, "take", "", "a"},
               {1ms, "take", "", "c"}}},
        Story{"a_key_in_work_goes_to_no_second_worker_but_comes_again",
              {{0ms, "add", "a", "ready"},
               {1ms, "take", "", "a"},
               {2ms, "add", "a", "-"},
               {3ms, "add", "a", "-"},
               {4ms, "take", "", "-"},
               {5ms, "done", "a", "again"},
               {6ms, "take", "", "a"},
               {7ms, "done", "a", "-"},
               {8ms, "take", "", "-"}}},
        Story{"a_key_that_comes_again_stands_behind_those_that_wait",
              {{0ms, "add", "a", "ready"},
               {1ms, "take", "", "a"},
               {2ms, "add", "a", "-"},
               {3ms, "add", "b", "ready"},
               {4ms, "done", "a", "again"},
               {5ms, "take", "", "b"},
               {6ms, "take", "", "a"}}},
        Story{"done_of_a_key_that_is_not_in_work_means_nothing",
              {{0ms, "done", "a", "-"},
               {1ms, "add", "a", "ready"},
               {2ms, "done", "a", "-"},
               {3ms, "take", "", "a"},
               {4ms, "done", "a", "-"},
               {5ms, "done", "a", "-"}}},
        Story{"low_goes_after_normal",
              {{0ms, "low", "l", "ready"}, {1ms, "add", "n", "ready"}, {2ms, "take", "", "n"}, {3ms, "take", "", "l"}}},
        Story{"a_low_key_added_normal_moves_up",
              {{0ms, "low", "l", "ready"},
               {0ms, "low", "m", "ready"},
               {1ms, "add", "m", "-"},
               {2ms, "take", "", "m"},
               {3ms, "take", "", "l"}}},
        Story{"a_normal_key_added_low_does_not_move_down",
              {{0ms, "add", "a", "ready"}, {0ms, "add", "b", "ready"}, {1ms, "low", "a", "-"}, {2ms, "take", "", "a"}}},
        Story{"added_low_while_in_work_it_comes_again_as_low",
              {{0ms, "add", "a", "ready"},
               {0ms, "take", "", "a"},
               {1ms, "low", "a", "-"},
               {2ms, "done", "a", "again"},
               {3ms, "add", "b", "ready"},
               {4ms, "take", "", "b"},
               {5ms, "take", "", "a"}}},
        Story{"added_low_and_normal_while_in_work_it_comes_again_as_normal",
              {{0ms, "add", "a", "ready"},
               {0ms, "take", "", "a"},
               {1ms, "add", "a", "-"},
               {1ms, "low", "a", "-"},
               {2ms, "done", "a", "again"},
               {3ms, "add", "b", "ready"},
               {4ms, "take", "", "a"}}},
        Story{"a_low_key_starves_no_longer_than_the_limit",
              {{0ms, "low", "l", "ready"},
               {9'999ms, "add", "early", "ready"},
               {10'000ms, "add", "early too", "ready"},
               {10'001ms, "add", "late", "ready"},
               {10'002ms, "take", "", "early"},
               {10'003ms, "take", "", "early too"},
               {10'004ms, "take", "", "l"},
               {10'005ms, "take", "", "late"}}},
        Story{"overdue_low_keys_do_not_starve_the_normal_ones",
              {{0ms, "low", "l", "ready"},
               {5'000ms, "low", "m", "ready"},
               {12'000ms, "add", "n", "ready"},
               {60'000ms, "take", "", "l"},
               {60'000ms, "take", "", "n"},
               {60'000ms, "take", "", "m"}}},
        Story{"a_delayed_key_comes_when_it_is_due",
              {{0ms, "after 100", "a", "-"},
               {99ms, "take", "", "-"},
               {100ms, "take", "", "a"},
               {101ms, "done", "a", "-"}}},
        Story{"a_delay_of_nothing_is_an_addition", {{0ms, "after 0", "a", "-"}, {0ms, "take", "", "a"}}},
        Story{"of_two_delays_the_earlier_counts_once",
              {{0ms, "after 100", "a", "-"},
               {0ms, "after 50", "a", "-"},
               {0ms, "after 70", "a", "-"},
               {49ms, "take", "", "-"},
               {50ms, "take", "", "a"},
               {51ms, "done", "a", "-"},
               {200ms, "take", "", "-"}}},
        Story{"a_delay_outlives_an_addition",
              {{0ms, "after 100", "a", "-"},
               {1ms, "add", "a", "ready"},
               {2ms, "take", "", "a"},
               {3ms, "done", "a", "-"},
               {100ms, "take", "", "a"}}},
        Story{"a_delay_that_ends_while_the_key_is_in_work_waits_for_done",
              {{0ms, "add", "a", "ready"},
               {0ms, "take", "", "a"},
               {1ms, "after 10", "a", "-"},
               {20ms, "take", "", "-"},
               {21ms, "done", "a", "again"},
               {22ms, "take", "", "a"}}},
        Story{"a_low_delay_comes_as_low",
              {{0ms, "low after 10", "a", "-"},
               {20ms, "add", "b", "ready"},
               {21ms, "take", "", "b"},
               {22ms, "take", "", "a"}}},
        Story{"delays_end_in_their_order",
              {{0ms, "after 30", "c", "-"},
               {0ms, "after 10", "a", "-"},
               {0ms, "after 20", "b", "-"},
               {100ms, "take", "", "a"},
               {100ms, "take", "", "b"},
               {100ms, "take", "", "c"}}},
        Story{"after_shut_down_nothing_is_handed_out_or_added",
              {{0ms, "add", "a", "ready"},
               {0ms, "add", "b", "ready"},
               {0ms, "after 5", "c", "-"},
               {1ms, "take", "", "a"},
               {1ms, "add", "a", "-"},
               {2ms, "shut", "", "-"},
               {3ms, "take", "", "-"},
               {4ms, "add", "d", "-"},
               {4ms, "after 1", "e", "-"},
               {5ms, "done", "a", "-"},
               {100ms, "take", "", "-"}}}),
    [](const auto& story) { return story.param.name; });

TEST(WorkQueueCore, backs_off_per_key_until_forgotten) {
  Core core(limits, Jitter(7));
  for (const std::chrono::milliseconds whole : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
    const auto wait = core.add_backing_off("a", Priority::normal, at(0ms));
    EXPECT_GE(wait, whole / 2);
    EXPECT_LE(wait, whole);
  }
  EXPECT_LE(core.add_backing_off("b", Priority::normal, at(0ms)), 100ms);
  core.forget("a");
  EXPECT_LE(core.add_backing_off("a", Priority::normal, at(0ms)), 100ms);
}

TEST(WorkQueueCore, tells_how_often_a_key_has_failed_and_how_long_it_waited) {
  Core core(limits, Jitter(7));
  core.add_backing_off("a", Priority::normal, at(0ms));
  const auto first = core.take(at(100ms));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->failures, 1);
  core.done("a", at(100ms));
  core.add("a", Priority::normal, at(200ms));
  const auto second = core.take(at(250ms));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->waited, 50ms);
  EXPECT_EQ(second->failures, 1);
}

TEST(WorkQueueCore, never_overflows_a_backoff_however_often_a_key_fails) {
  Core core(QueueLimits{}, Jitter(3));
  for (int i = 0; i < 1000; ++i) {
    const auto wait = core.add_backing_off("a", Priority::normal, at(0ms));
    ASSERT_GE(wait, 2ms);
    ASSERT_LE(wait, 300s);
  }
}

TEST(WorkQueueCore, keeps_nothing_of_a_key_that_is_through) {
  Core core(limits, Jitter(1));
  for (const char* key : {"a", "b", "c"}) core.add(key, Priority::normal, at(0ms));
  core.add_after("a", 10ms, Priority::normal, at(0ms));
  core.add_backing_off("b", Priority::normal, at(0ms));
  EXPECT_EQ(core.known(), 3U);
  for (int i = 0; i < 3; ++i) core.done(core.take(at(1ms))->key, at(1ms));
  EXPECT_EQ(core.known(), 2U) << "a is delayed, b is failing";
  for (int i = 0; i < 2; ++i) core.done(core.take(at(1s))->key, at(1s));
  EXPECT_EQ(core.known(), 1U);
  core.forget("b");
  EXPECT_EQ(core.known(), 0U);
}

TEST(WorkQueueCore, gives_numbers) {
  Core core(limits, Jitter(1));
  core.add("a", Priority::normal, at(0ms));
  core.add("b", Priority::normal, at(100ms));
  core.add("c", Priority::low, at(50ms));
  core.add_backing_off("d", Priority::normal, at(0ms));
  auto numbers = core.numbers(at(500ms));
  EXPECT_EQ(numbers.normal, 2U);
  EXPECT_EQ(numbers.low, 1U);
  EXPECT_EQ(numbers.depth(), 3U);
  EXPECT_EQ(numbers.delayed, 1U);
  EXPECT_EQ(numbers.failing, 1U);
  EXPECT_EQ(numbers.retries_total, 1U);
  EXPECT_EQ(numbers.longest_wait, 500ms);
  EXPECT_EQ(numbers.longest_work, 0ms);
  ASSERT_TRUE(core.take(at(600ms)));
  numbers = core.numbers(at(700ms));
  EXPECT_EQ(numbers.in_work, 1U);
  EXPECT_EQ(numbers.taken_total, 1U);
  EXPECT_EQ(numbers.adds_total, 4U) << "with the one that became due";
  EXPECT_EQ(numbers.longest_work, 100ms);
  EXPECT_EQ(numbers.longest_wait, 650ms) << "the low one";
}

TEST(WorkQueueCore, tells_when_the_next_delay_ends) {
  Core core(limits, Jitter(1));
  EXPECT_EQ(core.next_due(), std::nullopt);
  core.add_after("a", 30ms, Priority::normal, at(0ms));
  core.add_after("b", 20ms, Priority::normal, at(0ms));
  EXPECT_EQ(core.next_due(), at(20ms));
  EXPECT_TRUE(core.tick(at(20ms)));
  EXPECT_FALSE(core.tick(at(20ms)));
  EXPECT_EQ(core.next_due(), at(30ms));
}

TEST(WorkQueueCore, takes_keys_with_their_own_hash_and_equality) {
  struct ByLength {
    std::size_t operator()(const std::string& text) const { return text.size(); }
    bool operator()(const std::string& a, const std::string& b) const { return a.size() == b.size(); }
  };
  WorkQueueCore<std::string, ByLength, ByLength> core(limits, Jitter(1));
  EXPECT_TRUE(core.add("ab", Priority::normal, at(0ms)));
  EXPECT_FALSE(core.add("cd", Priority::normal, at(0ms)));
}

}  // namespace
}  // namespace stackgate::kube::work_queue_core_test
