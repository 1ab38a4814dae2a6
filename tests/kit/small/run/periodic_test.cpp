#include "services/kit/run/periodic.hpp"

#include <atomic>
#include <chrono>

#include <gtest/gtest.h>

namespace stackgate::run {
namespace {

using namespace std::chrono_literals;

bool becomes_true(const auto& condition) {
  for (int i = 0; i < 500; ++i, std::this_thread::sleep_for(10ms))
    if (condition()) return true;
  return false;
}

TEST(Periodic, goes_round_with_the_pauses_that_each_round_asks_for) {
  std::atomic<int> rounds = 0;
  const Periodic periodic(1ms, [&](const std::stop_token&) -> std::chrono::milliseconds {
    return ++rounds < 3 ? 1ms : std::chrono::hours(1);
  });
  EXPECT_TRUE(becomes_true([&] { return rounds == 3; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(rounds, 3);
}

TEST(Periodic, is_woken_while_it_waits_and_while_it_works) {
  std::atomic<int> rounds = 0;
  std::atomic<bool> working = false;
  std::atomic<bool> go_on = false;
  Periodic periodic(1h, [&](const std::stop_token&) {
    working = true;
    while (!go_on) std::this_thread::sleep_for(1ms);
    ++rounds;
    return 1h;
  });
  periodic.wake();
  EXPECT_TRUE(becomes_true([&] { return working.load(); }));
  periodic.wake();
  go_on = true;
  EXPECT_TRUE(becomes_true([&] { return rounds == 2; }));
}

TEST(Periodic, ends_at_once_while_it_waits_and_after_the_round_under_way) {
  const auto began = std::chrono::steady_clock::now();
  {
    const Periodic idle(1h, [](const std::stop_token&) { return 1h; });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  std::atomic<bool> ended = false, begun = false;
  {
    const Periodic busy(0ms, [&](const std::stop_token& stop) {
      begun = true;
      while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
      ended = true;
      return 0ms;
    });
    EXPECT_TRUE(becomes_true([&] { return begun.load(); }));
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace stackgate::run
