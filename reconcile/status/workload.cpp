#include "reconcile/status/workload.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/json/read.hpp"

namespace stackgate::reconcile {
namespace {

constexpr std::size_t longest_refusal = 1024;

/// The numbers of a Deployment or LeaderWorkerSet.
struct Counts {
  std::int64_t wanted = 0, made = 0, updated = 0, available = 0;
  bool current = false;  // they speak of the object as it stands
  bool deleting = false;
};

Counts counts_of(const json::Value& object, std::optional<std::int64_t> wanted) {
  const bool group = json::text(&object, {"kind"}) == "LeaderWorkerSet";
  Counts out;
  out.wanted = std::max<std::int64_t>(wanted ? *wanted : json::integer(&object, {"spec", "replicas"}, 1), 0);
  out.made = json::integer(&object, {"status", "replicas"});
  out.updated = json::integer(&object, {"status", "updatedReplicas"});
  out.available = json::integer(&object, {"status", group ? "readyReplicas" : "availableReplicas"});
  out.deleting = !json::text(&object, {"metadata", "deletionTimestamp"}).empty();
  const json::Value* seen = json::at(&object, {"status", "observedGeneration"});
  // Groups report their generation only since LeaderWorkerSet 0.7.
  out.current = seen == nullptr ? group && json::at(&object, {"status", "conditions"}) != nullptr
                                : seen->integer() >= json::integer(&object, {"metadata", "generation"});
  // What the object is configured to run, and not only what it shall run, decides until the change is written.
  if (json::integer(&object, {"spec", "replicas"}, 1) != out.wanted) out.current = false;
  return out;
}

/// "requested: limits.cpu=2, used: limits.cpu=4, limited: limits.cpu=4": what is used changes with every other pod.
std::string quota_in_words(std::string_view message) {
  constexpr std::string_view head = "exceeded quota: ", used = ", used: ", limited = ", limited: ";
  message.remove_prefix(message.find(head) + head.size());
  const std::size_t cut = message.find(used), rest = message.find(limited);
  std::string text(message.substr(0, cut));
  if (cut != std::string_view::npos && rest != std::string_view::npos && rest > cut) text += message.substr(rest);
  return fmt::format("the pods exceed a quota of the namespace: {}", shortened(text, longest_refusal));
}

/// Why the pods are not even made: the condition ReplicaFailure of a Deployment.
std::optional<Problem> refusal_of(const json::Value& object) {
  const json::Value* failure = condition_of(&object, "ReplicaFailure");
  if (json::text(failure, {"status"}) != "True") return std::nullopt;
  std::string_view message = json::text(failure, {"message"});
  if (message.contains("exceeded quota: "))
    return Problem{.reason = "QuotaExceeded", .message = quota_in_words(message)};
  // The refused pod's name is another one at every try.
  constexpr std::string_view forbidden = "is forbidden: ";
  if (const std::size_t at = message.find(forbidden); at != std::string_view::npos)
    message.remove_prefix(at + forbidden.size());
  return Problem{.reason = "PodsRefused",
                 .message = fmt::format("the API server refuses the pods: {}", shortened(message, longest_refusal))};
}

/// `kubectl rollout pause` by hand: the controller still scales what there is, but makes no pod of a newer version.
bool is_held(const json::Value& object, const Counts& counts) {
  return json::flag(&object, {"spec", "paused"}) && counts.current && counts.updated < counts.wanted;
}

bool missed_deadline(const json::Value& object) {
  const json::Value* progressing = condition_of(&object, "Progressing");
  return json::text(progressing, {"status"}) == "False" &&
         json::text(progressing, {"reason"}) == "ProgressDeadlineExceeded";
}

struct Outcome {
  State state;
  std::string reason, message;
};

Outcome of(State state, const Problem& problem) { return {state, problem.reason, problem.message}; }

const Problem* first(std::span<const Problem> blockers, bool lasting) {
  const auto found = std::ranges::find(blockers, lasting, &Problem::lasting);
  return found == blockers.end() ? nullptr : &*found;
}

Outcome absent(const WorkloadView& view) {
  if (const Problem* blocker = first(view.blockers, false)) return of(State::pending, *blocker);
  if (!view.acts) return {State::unknown, "NotObserved", "nothing runs for this resource"};
  return {State::pending, "Creating", "the workload is being created"};
}

Outcome scaled_to_zero(const Counts& counts) {
  if (counts.current && counts.made == 0) return {State::ready, "ScaledToZero", "no replicas are asked for"};
  return {State::not_ready, "ScalingDown", "the last replicas are being stopped"};
}

Outcome not_ready_yet(const Counts& counts, bool runs) {
  const std::string available = fmt::format("{} of {} replicas are available", counts.available, counts.wanted);
  const bool rolling =
      counts.available > 0 && (!counts.current || counts.updated < counts.made || counts.made > counts.wanted);
  if (rolling) return {State::not_ready, "RollingOut", "the new version is being rolled out"};
  return runs ? Outcome{State::not_ready, "ReplicasNotReady", available}
              : Outcome{State::pending, "Starting", available};
}

Outcome outcome_of(const WorkloadView& view) {
  if (const Problem* lasting = first(view.blockers, true)) return of(State::failed, *lasting);
  if (view.object == nullptr) return absent(view);
  const Counts counts = counts_of(*view.object, view.wanted);
  if (!counts.deleting && counts.wanted == 0) return scaled_to_zero(counts);
  if (!counts.deleting && counts.current && counts.available >= counts.wanted && counts.updated >= counts.wanted &&
      counts.made <= counts.updated)
    return {State::ready, "AllReplicasAvailable",
            fmt::format("{} of {} replicas are available", counts.available, counts.wanted)};

  const bool serves = counts.available > 0;
  const bool runs = serves || std::ranges::any_of(view.pods, [](const PodFacts& pod) {
                      return pod.phase == "Running" && !pod.deleting;
                    });
  const State state = runs ? State::not_ready : State::pending;
  if (counts.deleting) return {state, "Terminating", "the workload is being deleted; it is made anew when it is gone"};

  if (is_held(*view.object, counts))
    return {
        state, "RolloutPaused",
        fmt::format("the Deployment {0} was paused by hand, so its new version is not rolled out; to go on: `kubectl "
                    "rollout resume deployment/{0} -n {1}`",
                    json::text(view.object, {"metadata", "name"}), json::text(view.object, {"metadata", "namespace"}))};

  const Problem* problem = worst_problem(view.pods);
  const std::optional<Problem> refusal = refusal_of(*view.object);
  if (problem == nullptr) problem = first(view.blockers, false);
  if (problem == nullptr && refusal) problem = &*refusal;
  const bool waits = problem != nullptr && (is_waiting(*problem) || problem == first(view.blockers, false));
  const bool failed =
      !serves && ((problem != nullptr && problem->lasting) || (missed_deadline(*view.object) && !waits));
  if (problem != nullptr) return of(failed ? State::failed : state, *problem);
  if (failed)
    return {State::failed, "ProgressDeadlineExceeded", "no replica became available in the time that it has to start"};
  return not_ready_yet(counts, runs);
}

/// Kubelet reports why an image cannot be pulled only between two waits; until it reports another cause that stays
/// true.
void keep_detail(Condition& fresh, const json::Value* stored) {
  const json::Value* held = condition_in(stored, fresh.type);
  const std::string_view message = json::text(held, {"message"});
  if (json::text(held, {"reason"}) == fresh.reason && message.starts_with(fresh.message + ": "))
    fresh.message = message;
}

}  // namespace

Status workload_status(const WorkloadView& view) {
  Outcome outcome = outcome_of(view);
  Status status{.state = outcome.state};
  status.conditions.push_back(ready_condition(outcome.state, outcome.reason, outcome.message));
  if (outcome.reason == "ImagePullBackOff") keep_detail(status.conditions.front(), view.stored);
  status.available_replicas = view.object == nullptr ? 0 : counts_of(*view.object, view.wanted).available;
  return status;
}

std::optional<Problem> claim_problem(const json::Value* claim, std::string_view name) {
  if (claim == nullptr)
    return Problem{.reason = "ClaimNotFound",
                   .message = fmt::format("there is no claim {}; create it in the same namespace", name)};
  if (!json::text(claim, {"metadata", "deletionTimestamp"}).empty())
    return Problem{.reason = "ClaimTerminating", .message = fmt::format("the claim {} is being deleted", name)};
  const std::string_view phase = json::text(claim, {"status", "phase"});
  if (phase == "Bound") return std::nullopt;
  if (phase == "Lost")
    return Problem{.reason = "ClaimLost",
                   .message = fmt::format("the claim {} has lost its volume {}; its data is gone", name,
                                          json::text(claim, {"spec", "volumeName"})),
                   .lasting = true};
  const std::string_view storage_class = json::text(claim, {"spec", "storageClassName"});
  return Problem{.reason = "ClaimPending",
                 .message = fmt::format("the claim {} waits for a volume{}{}", name,
                                        storage_class.empty() ? "" : " of the StorageClass ", storage_class)};
}

Problem name_taken(std::string_view kind, std::string_view name) {
  return {.reason = std::string(name_taken_reason),
          .message = fmt::format("there is another {} named {} that does not belong to this resource; delete it, or "
                                 "give this resource another name; that is looked at again every {} s",
                                 kind, name, name_retry.count()),
          .lasting = true};
}

}  // namespace stackgate::reconcile
