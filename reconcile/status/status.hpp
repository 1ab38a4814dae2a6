// A resource's status: its state, conditions and the few facts beside them, as values.
// Source of the conventions: https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md
// Pure and thread-safe.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::reconcile {

/// Every state of every kind; which of them a kind uses stands in states_of().
enum class State : std::uint8_t {
  ready,
  not_ready,
  pending,
  failed,
  unknown,
  in_progress,  // InferenceCache only, as the next two
  pvc_created,
  started,
};
/// The word in status.state and in the metrics' label: "Ready", "PVCCreated", …
std::string_view to_string(State state);
std::optional<State> state_named(std::string_view word);

/// Why something does not run: `reason` is one CamelCase word for machines, `message` a sentence that a user can act on.
struct Trouble {
  std::string reason;
  std::string message;
  /// Waiting does not cure it: somebody has to change something.
  bool lasting = false;
  friend bool operator==(const Trouble&, const Trouble&) = default;
};

struct Condition {
  std::string type;    // Ready, Progressing, …
  std::string status;  // True, False, Unknown
  std::string reason;
  std::string message;
};

struct Progress {
  std::int64_t downloaded_bytes = 0, total_bytes = 0;
};

struct Status {
  State state = State::unknown;
  std::vector<Condition> conditions;
  std::optional<std::int64_t> available_replicas;  // InferenceService
  std::string pvc;                                 // InferenceCache
  std::optional<Progress> progress;                // InferenceCache
  std::vector<std::string> profiles;               // InferenceCache
  std::map<std::string, std::string> services;     // InferencePipeline: entry → state
};

/// The status sub-document to store, or empty when `stored` says the same already. A condition's lastTransitionTime
/// is `now` (RFC 3339, whole seconds, UTC) where its status changed, and kept where it did not. Fields of the kind
/// that are no longer there are written as null, so that a merge patch removes them.
std::string status_json(const Status& status, std::int64_t generation, const json::Value* stored, std::string_view now);

}  // namespace stackgate::reconcile
