// Customizations on their way, and what is seen of them.
#pragma once
#include <string>
#include <utility>

#include "services/customizer/job/next.hpp"

namespace stackgate::customizer::tests {

inline constexpr Seconds now = 1'000'000;

/// One in which the stages before `at` are completed and that one's first attempt is begun.
inline Customization at(Stage at, State state = State::pending) {
  Customization out{.id = "cust-1", .name = "mine", .state = state, .created_at = now - 100};
  for (const Stage each : all_stages) {
    StageRecord& record = out.stage(each);
    if (each < at)
      record = {.state = State::completed, .attempts = 1, .seen = true, .started_at = now - 90, .ended_at = now - 80};
    if (each == at)
      record = {.state = state, .attempts = 1, .seen = true, .created_at = now - 70, .waiting_since = now - 70};
    if (each == at && state == State::running) record.started_at = now - 60;
  }
  return out;
}

inline Observed sees(Stage stage, StageSight sight) {
  Observed out{.now = now, .leftovers = true};
  out.stage(stage) = std::move(sight);
  return out;
}

inline StageSight there(State state, std::string message = {}, bool may_retry = false) {
  return {.objects = StageSight::Objects::there, .state = state, .may_retry = may_retry, .message = std::move(message)};
}

inline Step step(Customization job, const Observed& observed, const Limits& limits = {}) {
  return next(std::move(job), observed, limits);
}

}  // namespace stackgate::customizer::tests
