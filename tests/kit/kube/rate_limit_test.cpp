#include "services/kit/kube/rate_limit.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stackgate::kube::rate_limit_test {
namespace {

using namespace std::chrono_literals;

/// A call at a time (ms), how long it may wait, and how long it does (-1: refused).
struct Turn {
  int time, at_most, wait;
};
struct Bucket {
  const char* name;
  RateLimit limit;
  std::vector<Turn> turns;
};

class Buckets : public testing::TestWithParam<Bucket> {};

TEST_P(Buckets, give_turns) {
  TokenBucket bucket(GetParam().limit);
  for (const Turn& turn : GetParam().turns) {
    const auto wait = bucket.reserve(TokenBucket::Time{} + 1h + std::chrono::milliseconds(turn.time),
                                     std::chrono::milliseconds(turn.at_most));
    const auto shown = wait ? std::chrono::round<std::chrono::milliseconds>(*wait).count() : -1;
    ASSERT_EQ(shown, turn.wait) << "at " << turn.time << " ms";
  }
}

INSTANTIATE_TEST_SUITE_P(
    RateLimit, Buckets,
    testing::Values(Bucket{"none_when_there_is_no_limit", {0, 1}, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}},
                    Bucket{"none_when_the_limit_is_nonsense", {-5, 0}, {{0, 0, 0}, {0, 0, 0}}},
                    Bucket{"a_burst_goes_at_once_then_one_after_the_other",
                           {10, 3},
                           {{0, 1000, 0}, {0, 1000, 0}, {0, 1000, 0}, {0, 1000, 100}, {0, 1000, 200}, {50, 1000, 250}}},
                    Bucket{"a_pause_fills_the_bucket_to_its_burst_and_no_further",
                           {10, 2},
                           {{0, 1000, 0}, {0, 1000, 0}, {60'000, 1000, 0}, {60'000, 1000, 0}, {60'000, 1000, 100}}},
                    Bucket{"a_refused_call_takes_no_turn",
                           {10, 1},
                           {{0, 1000, 0}, {0, 50, -1}, {0, 50, -1}, {0, 1000, 100}, {0, 150, -1}, {100, 150, 100}}},
                    Bucket{"a_turn_that_comes_just_in_time_is_given",
                           {10, 1},
                           {{0, 0, 0}, {0, 100, 100}, {0, 199, -1}, {0, 200, 200}}},
                    Bucket{"the_burst_is_one_at_least", {10, 0}, {{0, 1000, 0}, {0, 1000, 100}}},
                    Bucket{"less_than_one_a_second", {0.5, 1}, {{0, 9000, 0}, {0, 9000, 2000}, {1000, 9000, 3000}}},
                    Bucket{"a_clock_that_stands_still_or_steps_back_gives_nothing",
                           {10, 1},
                           {{1000, 1000, 0}, {1000, 1000, 100}, {500, 1000, 200}, {1000, 1000, 300}}}),
    [](const auto& bucket) { return bucket.param.name; });

}  // namespace
}  // namespace stackgate::kube::rate_limit_test
