#include "services/kit/run/pool.hpp"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

namespace stackgate::run {
namespace {

TEST(Pool, RunsEveryTaskItTookBeforeItEnds) {
  std::atomic<int> ran = 0;
  int taken = 0;
  {
    Pool pool(3, 1000);
    for (int i = 0; i < 500; ++i) taken += pool.submit([&] { ++ran; }) ? 1 : 0;
  }
  EXPECT_EQ(taken, 500);
  EXPECT_EQ(ran, 500);
}

TEST(Pool, RefusesWhatDoesNotFitAndLeavesTheTaskWithItsCaller) {
  std::promise<void> gate;
  std::shared_future<void> opened(gate.get_future());
  std::promise<void> started;
  Pool pool(1, 1);
  ASSERT_TRUE(pool.submit([&started, opened] {
    started.set_value();
    opened.wait();
  }));
  started.get_future().wait();
  ASSERT_TRUE(pool.submit([] {}));
  int called = 0;
  Pool::Task third = [&called] { ++called; };
  EXPECT_FALSE(pool.submit(std::move(third)));
  third();
  EXPECT_EQ(called, 1);
  gate.set_value();
}

}  // namespace
}  // namespace stackgate::run
