// A customization as it is stored: what was asked for, how far each stage is, what came of it. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/jobs/run_state.hpp"

namespace stackgate::customizer {

/// Of a customization and of each of its stages.
using State = jobs::RunState;
using jobs::is_final;
using jobs::to_string;
inline constexpr const auto& state_names = jobs::run_state_names;
constexpr std::optional<State> state_named(std::string_view name) { return jobs::run_state_named(name); }

enum class Stage : std::uint8_t { download, training, upload };

inline constexpr std::array<Stage, 3> all_stages = {Stage::download, Stage::training, Stage::upload};
/// NeMo's names of its steps.
inline constexpr std::array<std::string_view, 3> stage_names = {"model-and-dataset-download", "training",
                                                                "model-upload"};
constexpr std::string_view to_string(Stage stage) { return stage_names.at(static_cast<std::size_t>(stage)); }

/// Seconds since 1970; 0: not yet.
using Seconds = std::int64_t;

struct StageRecord {
  State state = State::created;
  std::uint32_t attempts = 0;  // begun so far; the newest one's number stands in the names of its objects
  std::uint32_t failures = 0;  // in a row; a retry that somebody asked for counts anew
  bool seen = false;           // the newest attempt's objects were there
  Seconds not_before = 0;      // of the next attempt
  std::string message{};       // why it waits, or why it failed
  Seconds created_at = 0;      // of the newest attempt
  Seconds waiting_since = 0;   // of what waits: since it was made, or since it was put back into its queue
  Seconds started_at = 0;      // of the first attempt that ran
  Seconds ended_at = 0;
  friend bool operator==(const StageRecord&, const StageRecord&) = default;
};

struct Customization {
  std::string id{};       // "cust-…", a DNS label of at most 40 characters: names of objects are made of it
  std::string name{};     // unique until it is deleted
  std::string request{};  // JSON: api's to_json, with the dataset's revision pinned
  State state = State::created;
  std::string message{};  // why it waits, or why it failed: one sentence
  std::array<StageRecord, 3> stages{};
  bool trained = false;    // the trainer has reported its end: the adapter lies in the workspace
  bool cleared = false;    // its objects are deleted, or about to be: what earlier stages made counts as gone
  std::string progress{};  // JSON object: progress_json; "" before the first step
  std::string warnings{};  // JSON array of findings
  Seconds created_at = 0, changed_at = 0, started_at = 0, ended_at = 0;

  StageRecord& stage(Stage which) { return stages.at(static_cast<std::size_t>(which)); }
  const StageRecord& stage(Stage which) const { return stages.at(static_cast<std::size_t>(which)); }
  friend bool operator==(const Customization&, const Customization&) = default;
};

}  // namespace stackgate::customizer
