#include "services/kit/service/check_runner.hpp"

#include <exception>

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
    rounds_.emplace_back(std::chrono::milliseconds(0),
                         [this, &check, &gauge = up.at({check.name}), before = std::optional<bool>()](
                             const std::stop_token&) mutable { return ask(check, gauge, before); });
  }
}

// All of them at once, and then each is waited for.
CheckRunner::~CheckRunner() {
  for (run::Periodic& each : rounds_) each.stop();
}

std::chrono::milliseconds CheckRunner::ask(const Check& check, metrics::Gauge& up, std::optional<bool>& before) {
  const auto answer = check_runner_detail::ask(check, times_.limit);
  board_->answered(check.name, answer);
  up.set(answer ? 1 : 0);
  if (!answer && before != false) {
    log::warning("check failed", {{"check", check.name}, {"error", answer.error().message}});
  } else if (answer && before == false) {
    log::info("check passes again", {{"check", check.name}});
  }
  before = answer.has_value();
  return answer ? times_.after_good : times_.after_fault;
}

}  // namespace stackgate::service
