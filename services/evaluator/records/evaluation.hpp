// An evaluation as it is stored: what was asked for, how far it is, what came of it. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/jobs/run_state.hpp"

namespace stackgate::evaluator {

using State = jobs::RunState;
using jobs::is_final;
using jobs::to_string;
inline constexpr const auto& state_names = jobs::run_state_names;
constexpr std::optional<State> state_named(std::string_view name) { return jobs::run_state_named(name); }

struct Evaluation {
  std::string id{};       // "eval-…"
  std::string name{};     // unique until it is deleted
  std::string request{};  // JSON: api/evaluation_request's to_json, with the data set's revision pinned
  State state = State::created;
  std::string message{};      // why it waits, or why it failed
  std::string progress{};     // JSON object, "" before it runs
  std::string results{};      // JSON object, also of a part; ""
  std::string warnings{};     // JSON array of findings
  std::string job{};          // of kit/jobs; "" until it is queued
  std::string adapter{};      // JSON object: which adapter the model was, by the entitystore; ""
  std::string traceparent{};  // of the request that created it; ""
  std::int64_t created_at = 0, changed_at = 0, started_at = 0, ended_at = 0;  // seconds since 1970; 0: not yet
};

/// One question, its answers and scores: a JSON object.
struct Sample {
  std::string task{};
  std::int64_t number = 0;
  std::string record{};
};

struct Event {
  std::int64_t number = 0, at = 0;  // seconds since 1970
  std::string message{};
  bool is_log = false;  // a line that a framework wrote
};

}  // namespace stackgate::evaluator
