#include "services/guardrail/front/turn_driver.hpp"

#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

namespace stackgate::guardrail {
namespace {

TurnInput plain() { return {.configuration = std::make_shared<const Configuration>(), .user_message = "Hello"}; }

TEST(TurnDriver, goes_on_with_results_that_come_at_once) {
  std::string text;
  TurnDriver::make(
      plain(), [](const ActionRequest&, ActionDone done) { done({.value = jinja::Value("Hi")}); },
      [&](const TurnResult& result) { text = result.text; })
      ->start();
  EXPECT_EQ(text, "Hi");
}

TEST(TurnDriver, goes_on_with_results_of_other_threads) {
  for (int i = 0; i < 20'000; ++i) {
    std::promise<std::string> promise;
    std::jthread other;
    TurnDriver::make(
        plain(),
        [&](const ActionRequest&, ActionDone done) {
          other = std::jthread([done = std::move(done)]() mutable { done({.value = jinja::Value("Hi")}); });
        },
        [&](const TurnResult& result) { promise.set_value(result.text); })
        ->start();
    auto text = promise.get_future();
    ASSERT_EQ(text.wait_for(std::chrono::seconds(20)), std::future_status::ready) << "a result was lost";
    EXPECT_EQ(text.get(), "Hi");
  }
}

TEST(TurnDriver, that_is_cancelled_tells_nobody) {
  ActionDone held;
  std::atomic<int> told = 0;
  const auto driver = TurnDriver::make(
      plain(), [&](const ActionRequest&, ActionDone done) { held = std::move(done); },
      [&](const TurnResult&) { ++told; });
  driver->start();
  driver->cancel();
  held({.value = jinja::Value("late")});
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace stackgate::guardrail
