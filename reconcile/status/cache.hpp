// The state machine of an InferenceCache: its Job, the Job's pods and its claim → Status.
// The table of its states stands in STATES.md beside this file.
// Pure and thread-safe.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "reconcile/status/status.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/pod_problems/pod.hpp"

namespace stackgate::reconcile {

/// What stackgate-puller may say of its end in the ConfigMap: services/puller/plan/failure.hpp has the same list.
inline constexpr std::array<std::string_view, 9> puller_reasons = {
    "Unauthorized", "VolumeFull", "PermissionDenied", "ModelNotFound", "ChecksumMismatch",
    "Unreachable",  "BadAnswer",  "WrongSettings",    "Stopped"};

struct CacheView {
  std::string_view name = {};
  /// The Job that downloads, as it lives and is owned by the cache; nullptr when there is none.
  const json::Value* job = nullptr;
  /// The claim as far as it is known; nullptr when it is not, and `claim_missing` when it is known not to be there.
  std::string_view claim_name = {};
  const json::Value* claim = nullptr;
  bool claim_missing = false;
  bool claim_is_made = false;  // by the operator: pvc.create
  std::span<const PodFacts> pods = {};
  /// As in WorkloadView: a lasting one makes the state Failed.
  std::span<const Problem> blockers = {};
  /// The ConfigMap in which the puller reports, or nullptr: data.downloadedBytes and data.totalBytes (decimal),
  /// data.profiles (a JSON list like status.profiles), and after a failure data.reason (one of its words) with
  /// data.message. What is not of that form is passed over.
  const json::Value* report = nullptr;
  /// Status of the resource as it is stored, or nullptr: that a download has ended well is remembered there when its
  /// Job is gone, and why it failed when its pods are gone.
  const json::Value* stored = nullptr;
  std::int64_t tries = 1;  // the Job's backoffLimit + 1
};

/// State, the condition Ready, pvc, progress and profiles. Reasons besides those of the pods and blockers:
///   Downloaded                                                        Ready
///   ClaimNotFound, ClaimTerminating, ClaimReplaced                    NotReady, when a download had ended well
///   Creating, Suspended, Terminating; ClaimNotFound, ClaimTerminating Pending
///   ClaimCreated                                                      PVCCreated
///   Starting                                                          Started
///   Downloading, Retrying                                             InProgress
///   DownloadFailed, Unauthorized, VolumeFull, PermissionDenied,
///   ModelNotFound, ChecksumMismatch, Unreachable, BadAnswer,
///   WrongSettings, Stopped (the report's), ClaimLost                  Failed
Status cache_status(const CacheView& view);

/// Whether there has to be a Job: one that is there stays (a failed one is tried again only after somebody has deleted
/// it); none is made where a download has ended well and the claim is still the one it filled.
bool needs_job(const CacheView& view);

}  // namespace stackgate::reconcile
