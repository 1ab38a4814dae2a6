#include "services/kit/service/check_runner.hpp"

#include <exception>
#include <optional>

#include "services/kit/log/log.hpp"

namespace stackgate::service {
namespace check_runner_detail {

std::expected<void, Error> ask(const Check& check, std::chrono::milliseconds limit) {
  try {
    return check.ask(limit);
  } catch (const std::exception& thrown) {
    return std::unexpected(Error{thrown.what()});
  }
}

}  // namespace check_runner_detail

CheckRunner::CheckRunner(std::vector<Check> checks, std::shared_ptr<web::CheckBoard> board, run::Readiness& readiness,
                         metrics::Registry& registry, CheckTimes times)
    : checks_(std::move(checks)), board_(std::move(board)), times_(times) {
  if (checks_.empty()) return;
  auto& up =
      registry.gauge("stackgate_check_up", "Whether what the service needs answered when last asked.", {"check"});
  for (const Check& check : checks_) board_->add(check.name, readiness, !check.only_warns);
  for (const Check& check : checks_) {
    threads_.emplace_back([this, &check, &gauge = up.at({check.name})] { ask_until_stopped(check, gauge); });
  }
}

CheckRunner::~CheckRunner() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

void CheckRunner::ask_until_stopped(const Check& check, metrics::Gauge& up) {
  std::optional<bool> before;
  for (;;) {
    const auto answer = check_runner_detail::ask(check, times_.limit);
    board_->answered(check.name, answer);
    up.set(answer ? 1 : 0);
    if (!answer && before != false) {
      log::warning("check failed", {{"check", check.name}, {"error", answer.error().message}});
    } else if (answer && before == false) {
      log::info("check passes again", {{"check", check.name}});
    }
    before = answer.has_value();
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, answer ? times_.after_good : times_.after_fault, [&] { return stopping_; })) return;
  }
}

}  // namespace stackgate::service
