// What a pod says of itself, as far as a status needs it: whether it runs, and what keeps it from running.
// Sources: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/ and the texts that kubelet and scheduler
// write, 1.20 to 1.36 (tests/kit/pod_problems/pod_*_test.cpp holds them).
// Pure and thread-safe.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "services/kit/json/value.hpp"
#include "services/kit/pod_problems/problem.hpp"

namespace stackgate::pods {

/// One pod of the resource, as far as the status needs it.
struct PodFacts {
  std::string name = {};
  std::string phase = {};  // Pending, Running, Succeeded, Failed, Unknown
  bool ready = false;
  bool deleting = false;
  bool scheduled = false;  // a node has taken it
  /// What keeps it from running, in the words of status conditions; nothing when all is well or just takes its time.
  std::optional<Problem> problem = {};
  friend bool operator==(const PodFacts&, const PodFacts&) = default;
};

/// What keeps the pod from running, or nothing: a pod that is merely starting, is ready, is done or is being deleted
/// has no problem. The words do not change while the cause stays: no pod names, no counts, no times, and a container
/// that crashes again and again reads the same while it waits, runs for a moment and ends. Reasons:
///   Unschedulable, SchedulingGated, ClaimPending, ClaimNotFound      no node takes it
///   ImagePullBackOff, InvalidImageName, ImageNeverPulled             its image; the first for all that is retried
///   SecretNotFound, SecretKeyNotFound, ConfigMapNotFound,
///   ConfigMapKeyNotFound, ContainerConfigError, RunContainerError    its containers cannot be made
///   InitContainerFailed, OutOfMemory, CrashLoopBackOff, ContainerFailed   they end
///   Evicted, NodeLost, PodFailed                                     it was taken from its node, or refused by it
/// It is lasting where only a change of the resource, the image or the data cures it.
std::optional<Problem> pod_problem(const json::Value& pod);

PodFacts pod_facts(const json::Value& pod);

/// Of several problems the one to report: lasting before passing, then by cause (what a user must cure before the
/// others can be seen comes first), then by text. The order of the pods does not matter. Nothing when there is none;
/// pods that are being deleted are passed over.
const Problem* worst_problem(std::span<const PodFacts> pods);

/// True for what spec.md counts as waiting: scheduling, images, claims, Secrets and ConfigMaps, quota.
bool is_waiting(const Problem& problem);

}  // namespace stackgate::pods
