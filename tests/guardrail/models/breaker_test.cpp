#include "services/guardrail/models/protocol/breaker.hpp"

#include <gtest/gtest.h>

#include "services/guardrail/models/repetition.hpp"

namespace stackgate::guardrail {
namespace {

using namespace std::chrono_literals;
using Result = Breaker::Result;
using State = Breaker::State;

void fail(Breaker& breaker, Breaker::Moment now, int times) {
  for (int i = 0; i < times; ++i)
    if (const auto ticket = breaker.begin(now)) breaker.ended(*ticket, Result::failed, now);
}

TEST(Breaker, opens_after_failures_one_after_the_other) {
  Breaker breaker({.failures = 3});
  fail(breaker, 0s, 2);
  breaker.ended(*breaker.begin(0s), Result::succeeded, 0s);
  fail(breaker, 0s, 2);
  EXPECT_EQ(breaker.state(0s), State::closed);
  breaker.ended(*breaker.begin(0s), Result::unknown, 0s);
  EXPECT_EQ(breaker.state(0s), State::closed);
  fail(breaker, 0s, 1);
  EXPECT_EQ(breaker.state(0s), State::open);
  EXPECT_FALSE(breaker.begin(1s));
  EXPECT_EQ(breaker.wait(500ms), 1'500ms);
}

TEST(Breaker, lets_one_probe_through_and_closes_when_it_succeeds) {
  Breaker breaker({.failures = 1, .rest = 2s});
  fail(breaker, 0s, 1);
  EXPECT_EQ(breaker.state(2s), State::half_open);
  const auto probe = breaker.begin(2s);
  ASSERT_TRUE(probe);
  EXPECT_FALSE(breaker.begin(2s));
  breaker.ended(*probe, Result::unknown, 2s);
  const auto second = breaker.begin(2s);
  ASSERT_TRUE(second);
  breaker.ended(*second, Result::succeeded, 3s);
  EXPECT_EQ(breaker.state(3s), State::closed);
  EXPECT_EQ(breaker.wait(3s), 0s);
}

TEST(Breaker, rests_twice_as_long_after_a_failed_probe_up_to_a_limit) {
  Breaker breaker({.failures = 1, .rest = 2s, .longest_rest = 5s});
  fail(breaker, 0s, 1);
  fail(breaker, 2s, 1);
  EXPECT_EQ(breaker.wait(2s), 4s);
  fail(breaker, 6s, 1);
  EXPECT_EQ(breaker.wait(6s), 5s);
  breaker.ended(*breaker.begin(11s), Result::succeeded, 11s);
  fail(breaker, 12s, 1);
  EXPECT_EQ(breaker.wait(12s), 2s);
}

TEST(Breaker, results_of_calls_from_before_a_change_do_not_count) {
  Breaker breaker({.failures = 1, .rest = 2s});
  const auto early = breaker.begin(0s), other = breaker.begin(0s);
  fail(breaker, 0s, 1);
  breaker.ended(*early, Result::succeeded, 1s);
  EXPECT_EQ(breaker.state(1s), State::open);
  breaker.ended(*breaker.begin(2s), Result::succeeded, 2s);
  breaker.ended(*other, Result::failed, 3s);
  EXPECT_EQ(breaker.state(3s), State::closed);
}

TEST(WaitBeforeRepetition, only_for_what_passes_soon) {
  const ModelAttempt base{.status = 503, .made = 1, .retries = 2, .left = 10s, .dice = 0};
  EXPECT_EQ(wait_before_repetition(base), 200ms);
  const auto with = [&](auto change) {
    ModelAttempt out = base;
    change(out);
    return wait_before_repetition(out);
  };
  EXPECT_EQ(with([](auto& a) { a.made = 2; }), 400ms);
  EXPECT_EQ(with([](auto& a) { a.made = 3; }), std::nullopt);
  EXPECT_EQ(with([](auto& a) { a.status = 0; }), 200ms);
  for (const int status : {200, 400, 401, 404, 500})
    EXPECT_EQ(with([&](auto& a) { a.status = status; }), std::nullopt) << status;
  EXPECT_EQ(with([](auto& a) {
              a.status = 429;
              a.retry_after = 1s;
            }),
            1s);
  EXPECT_EQ(with([](auto& a) {
              a.status = 429;
              a.retry_after = 3s;
            }),
            std::nullopt);
  EXPECT_EQ(with([](auto& a) { a.left = 150ms; }), std::nullopt);
}

}  // namespace
}  // namespace stackgate::guardrail
