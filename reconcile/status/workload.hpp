// The state machine of everything that runs pods for good: a Deployment or LeaderWorkerSet with its pods → Status.
// The table of its states stands in STATES.md beside this file.
// Pure and thread-safe.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "reconcile/status/status.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/pod_problems/pod.hpp"

namespace stackgate::reconcile {

struct WorkloadView {
  /// The Deployment or LeaderWorkerSet as it lives in the cluster and is owned by the resource; nullptr when there is
  /// none.
  const json::Value* object = nullptr;
  /// Replicas that shall run (groups, of a LeaderWorkerSet). Nothing: as many as the object asks for itself, because
  /// an autoscaler decides.
  std::optional<std::int64_t> wanted = {};
  std::span<const PodFacts> pods = {};
  /// What the plan knows to stand in the way: a claim that is pending, a cache that is not ready, a name that is taken.
  /// The first lasting one makes the state Failed, whatever runs. The others are reported only where no pod reports
  /// more: a claim may be pending just because its pod fits no node.
  std::span<const Problem> blockers = {};
  /// The object will be made when it is absent; false for a resource that is leaving.
  bool acts = true;
  /// Status of the resource as it is stored, or nullptr. Its Ready message is kept where it says the same in more
  /// detail: kubelet reports why an image cannot be pulled only between two waits.
  const json::Value* stored = nullptr;
};

/// State, the condition Ready, and available_replicas. Reasons besides those of the pods and blockers:
///   AllReplicasAvailable, ScaledToZero                     Ready
///   RollingOut, ReplicasNotReady, ScalingDown, Terminating NotReady
///   RolloutPaused                                          NotReady or Pending
///   Creating, Starting                                     Pending
///   ProgressDeadlineExceeded                               Failed
///   QuotaExceeded, PodsRefused                             Pending or NotReady; pods are not even made
///   NotObserved                                            Unknown
Status workload_status(const WorkloadView& view);

/// What is wrong with a claim that the resource's pods need, or nothing when they can mount it. `claim` is nullptr
/// when there is none. Reasons: ClaimNotFound (passing: somebody may make it), ClaimPending, ClaimLost (lasting),
/// ClaimTerminating. Never withhold a workload because of ClaimPending: many StorageClasses bind a claim only once a
/// pod wants it.
std::optional<Problem> claim_problem(const json::Value* claim, std::string_view name);

/// No watch reports when a stranger's object goes: its name is looked at again this often at least.
inline constexpr std::chrono::seconds name_retry{30};
inline constexpr std::string_view name_taken_reason = "NameTaken";

/// A child whose name is taken by an object that is not the resource's.
Problem name_taken(std::string_view kind, std::string_view name);

}  // namespace stackgate::reconcile
