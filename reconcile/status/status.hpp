// A resource's status: its state, conditions and the few facts beside them, as values.
// Source of the conventions: https://kubernetes.io/docs/reference/kubernetes-api/ and, for conditions,
// https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md
// Pure and thread-safe.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crds/kinds.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/pod_problems/pod.hpp"
#include "services/kit/pod_problems/text.hpp"

namespace stackgate::reconcile {

// What keeps pods from running, in the kit's words.
using pods::condition_in;
using pods::condition_of;
using pods::pod_facts;
using pods::PodFacts;
using pods::Problem;
using pods::shortened;

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
/// The states of a kind in the order of its CRD: label values of its metric.
std::span<const State> states_of(crds::Kind kind);

struct Condition {
  std::string type;    // Ready, Progressing, …
  std::string status;  // True, False, Unknown
  std::string reason;
  std::string message;
};

/// The condition Ready for a state: status True for Ready, Unknown for Unknown, False otherwise.
Condition ready_condition(State state, std::string_view reason, std::string_view message);

struct Progress {
  std::int64_t downloaded_bytes = 0, total_bytes = 0;  // 0 in all: not known
};

/// A profile of a model that is on the volume; all but the name may be empty.
struct Profile {
  std::string name = {}, release = {}, model = {};
  std::map<std::string, std::string> config = {};
};

struct Status {
  State state = State::unknown;
  std::vector<Condition> conditions = {};
  std::optional<std::int64_t> available_replicas = {};  // InferenceService
  std::string pvc = {};                                 // InferenceCache
  std::optional<Progress> progress = {};                // InferenceCache
  std::vector<Profile> profiles = {};                   // InferenceCache
  std::map<std::string, std::string> services = {};     // InferencePipeline: entry → state
};

/// What to store: the body of a merge patch (RFC 7386) for the status itself, so {"state":…}, or empty when `stored`
/// (the status as it is, or nullptr) says the same already: what it gives, once stored, gives empty. A condition's
/// lastTransitionTime is `now` (RFC 3339, whole seconds, UTC) where its status changed, and kept where it did not.
/// Members that are no longer there are written as null. Everything is held to the limits of the CRDs: texts are cut,
/// numbers clamped, what cannot be stored (a profile without a name, say) is left out.
std::string status_json(const Status& status, std::int64_t generation, const json::Value* stored, std::string_view now);

/// The same status with the problem as the cause of not being ready. A lasting one makes the state Failed, whatever
/// runs; a passing one leaves the state unless that was Ready.
Status blocked_by(Status status, const Problem& problem);

}  // namespace stackgate::reconcile
