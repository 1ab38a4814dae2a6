#include "services/kit/run/per_client_pool.hpp"

#include <functional>
#include <future>

#include <gtest/gtest.h>

namespace stackgate::run {
namespace {

using namespace std::chrono_literals;

struct PerClientPoolTest : testing::Test {
  /// One that runs until `gate` opens.
  PerClientPool::Job holder() {
    return [this, mine = opened](bool runs) {
      if (!runs) return;
      ++holding;
      mine.wait();
      --holding;
    };
  }
  bool soon(const std::function<bool()>& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(2ms);
    return condition();
  }
  std::promise<void> gate;
  std::shared_future<void> opened{gate.get_future()};
  std::atomic<int> holding = 0;
};

TEST_F(PerClientPoolTest, lets_no_share_take_every_thread) {
  std::promise<bool> other;
  PerClientPool pool({.threads = 4, .per_share = 2, .patience = 60s});
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(pool.submit("greedy", holder()));
  EXPECT_TRUE(soon([&] { return holding == 2; }));
  ASSERT_FALSE(pool.submit("other", [&](bool runs) { other.set_value(runs); }));
  EXPECT_TRUE(other.get_future().get());  // passes the eight that wait
  EXPECT_EQ(holding, 2);
  EXPECT_EQ(pool.load().waiting, 8U);
  gate.set_value();
  EXPECT_TRUE(soon([&] { return pool.load().waiting == 0 && pool.load().running == 0; }));
}

TEST_F(PerClientPoolTest, refuses_what_has_waited_too_long_and_not_before) {
  PerClientPool pool({.threads = 1, .per_share = 1, .patience = 100ms});
  ASSERT_FALSE(pool.submit("a", holder()));
  EXPECT_TRUE(soon([&] { return holding == 1; }));
  std::promise<bool> late;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_FALSE(pool.submit("b", [&](bool runs) { late.set_value(runs); }));
  EXPECT_FALSE(late.get_future().get());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 100ms);
  gate.set_value();
}

TEST_F(PerClientPoolTest, bounds_what_waits_and_what_waits_of_one_share) {
  PerClientPool pool({.threads = 1, .per_share = 1, .waiting = 4, .waiting_per_share = 2, .patience = 60s});
  ASSERT_FALSE(pool.submit("a", holder()));
  EXPECT_TRUE(soon([&] { return holding == 1; }));
  ASSERT_FALSE(pool.submit("a", holder()));
  ASSERT_FALSE(pool.submit("a", holder()));
  EXPECT_TRUE(pool.submit("a", holder()));  // is the caller's again, who has to answer
  ASSERT_FALSE(pool.submit("b", holder()));
  ASSERT_FALSE(pool.submit("c", holder()));
  EXPECT_TRUE(pool.submit("d", holder()));
  gate.set_value();
}

TEST_F(PerClientPoolTest, refuses_what_waits_when_it_ends) {
  std::promise<bool> waiting;
  std::future<bool> said = waiting.get_future();
  {
    PerClientPool pool({.threads = 1, .per_share = 1, .patience = 60s});
    ASSERT_FALSE(pool.submit("a", holder()));
    EXPECT_TRUE(soon([&] { return holding == 1; }));
    ASSERT_FALSE(pool.submit("a", [&](bool runs) { waiting.set_value(runs); }));
    std::thread opener([&] {
      EXPECT_FALSE(said.get());
      gate.set_value();
    });
    opener.detach();
  }
  EXPECT_EQ(holding, 0);
}

TEST_F(PerClientPoolTest, answers_every_job_once) {
  std::atomic<int> ran = 0, refused = 0;
  int taken = 0;
  {
    PerClientPool pool({.threads = 3, .per_share = 2, .waiting = 10'000, .waiting_per_share = 10'000, .patience = 20s});
    for (int i = 0; i < 3000; ++i)
      taken += pool.submit(std::to_string(i % 7), [&](bool runs) { ++(runs ? ran : refused); }) ? 0 : 1;
    EXPECT_TRUE(soon([&] { return ran == 3000; }));
  }
  EXPECT_EQ(taken, 3000);
  EXPECT_EQ(ran + refused, 3000);
}

}  // namespace
}  // namespace stackgate::run
