#include "services/kit/service/check_runner.hpp"

#include <atomic>

#include <gmock/gmock.h>

namespace stackgate::service {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string report_until(run::Readiness& readiness, bool ready) {
  for (int i = 0; i < 500 && readiness.report().ready != ready; ++i) std::this_thread::sleep_for(5ms);
  return readiness.report().text;
}

TEST(CheckRunner, is_not_ready_before_the_first_answer_and_follows_the_answers) {
  metrics::Registry registry;
  run::Readiness readiness;
  std::atomic<int> mode{0};
  const Check check{"thing", [&](std::chrono::milliseconds) -> std::expected<void, Error> {
                      while (mode == 0) std::this_thread::sleep_for(1ms);
                      if (mode == 2) throw std::runtime_error("thrown words");
                      if (mode == 3) return std::unexpected(Error{"said words"});
                      return {};
                    }};
  const CheckRunner runner({check}, web::CheckBoard::make(), readiness, registry, {100ms, 5ms, 5ms});
  EXPECT_FALSE(readiness.report().ready);
  mode = 1;
  report_until(readiness, true);
  EXPECT_TRUE(readiness.report().ready);
  EXPECT_THAT(registry.render(), HasSubstr("stackgate_check_up{check=\"thing\"} 1"));
  mode = 2;
  EXPECT_THAT(report_until(readiness, false), HasSubstr("thrown words"));
  mode = 1;
  report_until(readiness, true);
  mode = 3;
  EXPECT_THAT(report_until(readiness, false), HasSubstr("said words"));
  EXPECT_THAT(registry.render(), HasSubstr("stackgate_check_up{check=\"thing\"} 0"));
}

TEST(CheckRunner, counts_a_check_that_hangs_as_failed_and_does_not_hold_the_others_up) {
  metrics::Registry registry;
  run::Readiness readiness;
  std::atomic<bool> hang{false};
  std::atomic<int> asked{0};
  const Check hanging{"hanging", [&](auto) -> std::expected<void, Error> {
                        while (hang) std::this_thread::sleep_for(1ms);
                        return {};
                      }};
  const Check other{"other", [&](auto) -> std::expected<void, Error> {
                      ++asked;
                      return {};
                    }};
  const CheckRunner runner({hanging, other}, web::CheckBoard::make(100ms), readiness, registry, {50ms, 5ms, 5ms});
  report_until(readiness, true);
  ASSERT_TRUE(readiness.report().ready);
  hang = true;
  EXPECT_THAT(report_until(readiness, false), HasSubstr("hanging"));
  const int before = asked;
  std::this_thread::sleep_for(100ms);
  EXPECT_GT(asked.load(), before);
  hang = false;
}

TEST(CheckRunner, without_checks_leaves_readiness_alone) {
  metrics::Registry registry;
  run::Readiness readiness;
  const CheckRunner runner({}, web::CheckBoard::make(), readiness, registry);
  EXPECT_TRUE(readiness.report().ready);
}

}  // namespace
}  // namespace stackgate::service
