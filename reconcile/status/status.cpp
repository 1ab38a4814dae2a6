#include "reconcile/status/status.hpp"

#include <algorithm>
#include <array>

#include "services/kit/json/read.hpp"

namespace stackgate::reconcile {
namespace {

/// By State.
constexpr std::array<std::string_view, 8> state_words{"Ready",   "NotReady",   "Pending",    "Failed",
                                                      "Unknown", "InProgress", "PVCCreated", "Started"};

constexpr std::array workload_states{State::ready, State::not_ready, State::pending, State::failed, State::unknown};
constexpr std::array cache_states{State::ready,       State::not_ready, State::in_progress, State::failed,
                                  State::pvc_created, State::pending,   State::started,     State::unknown};
constexpr std::array pipeline_states{State::ready, State::not_ready, State::failed, State::unknown};

}  // namespace

std::string_view to_string(State state) { return state_words[static_cast<std::size_t>(state)]; }

std::optional<State> state_named(std::string_view word) {
  const auto* const found = std::ranges::find(state_words, word);
  return found == state_words.end() ? std::nullopt : std::optional(static_cast<State>(found - state_words.begin()));
}

std::span<const State> states_of(crds::Kind kind) {
  switch (kind) {
    case crds::Kind::inference_cache:
      return cache_states;
    case crds::Kind::inference_pipeline:
      return pipeline_states;
    default:
      return workload_states;
  }
}

Condition ready_condition(State state, std::string_view reason, std::string_view message) {
  const std::string_view status = state == State::ready ? "True" : state == State::unknown ? "Unknown" : "False";
  return {
      .type = "Ready", .status = std::string(status), .reason = std::string(reason), .message = std::string(message)};
}

Status blocked_by(Status status, const Problem& problem) {
  if (problem.lasting)
    status.state = State::failed;
  else if (status.state == State::ready)
    status.state = State::not_ready;
  const auto ready = std::ranges::find(status.conditions, "Ready", &Condition::type);
  Condition not_ready{"Ready", "False", problem.reason, problem.message};
  if (ready == status.conditions.end())
    status.conditions.push_back(std::move(not_ready));
  else
    *ready = std::move(not_ready);
  return status;
}

}  // namespace stackgate::reconcile
