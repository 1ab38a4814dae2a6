#include "services/kit/pod_problems/pod.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "services/kit/json/read.hpp"
#include "services/kit/pod_problems/pod_causes.hpp"

namespace stackgate::pods {
namespace {

/// From the workload's own faults to what it merely waits for; what a pod left behind comes last.
constexpr std::array<std::string_view, 20> by_weight{
    "InvalidImageName",     "ContainerConfigError", "RunContainerError", "OutOfMemory",       "CrashLoopBackOff",
    "InitContainerFailed",  "ContainerFailed",      "SecretNotFound",    "SecretKeyNotFound", "ConfigMapNotFound",
    "ConfigMapKeyNotFound", "ImagePullBackOff",     "ImageNeverPulled",  "ClaimNotFound",     "ClaimPending",
    "Unschedulable",        "SchedulingGated",      "NodeLost",          "Evicted",           "PodFailed",
};

constexpr std::array<std::string_view, 14> waiting_reasons{
    "SecretNotFound",   "SecretKeyNotFound", "ConfigMapNotFound", "ConfigMapKeyNotFound",
    "ImagePullBackOff", "ImageNeverPulled",  "ClaimNotFound",     "ClaimPending",
    "ClaimTerminating", "Unschedulable",     "SchedulingGated",   "QuotaExceeded",
    "Evicted",          "NodeLost",
};

auto order_of(const Problem& problem) {
  const auto* const place = std::ranges::find(by_weight, std::string_view(problem.reason));
  return std::tuple(!problem.lasting, place - by_weight.begin(), std::string_view(problem.message));
}

bool has_condition(const json::Value& pod, std::string_view type, std::string_view status) {
  return json::text(condition_of(&pod, type), {"status"}) == status;
}

/// The entry of spec.containers or spec.initContainers with that name, or nullptr.
const json::Value* spec_of(const json::Value& pod, std::string_view list, std::string_view name) {
  for (const json::Value& each : json::items(&pod, {"spec", list}))
    if (json::text(&each, {"name"}) == name) return &each;
  return nullptr;
}

std::optional<Problem> of_containers(const json::Value& pod, bool init) {
  std::optional<Problem> worst;
  for (const json::Value& status :
       json::items(&pod, {"status", init ? "initContainerStatuses" : "containerStatuses"})) {
    const json::Value* spec = spec_of(pod, init ? "initContainers" : "containers", json::text(&status, {"name"}));
    std::optional<Problem> problem = causes::of_container({.pod = pod, .status = status, .spec = spec, .init = init});
    if (problem && (!worst || order_of(*problem) < order_of(*worst))) worst = std::move(problem);
  }
  return worst;
}

/// The node controller turns Ready off for pods of a node that has gone silent, and leaves the rest as kubelet last
/// wrote it. Kubelet itself gives a reason.
bool is_on_silent_node(const json::Value& pod) {
  const json::Value* ready = condition_of(&pod, "Ready");
  return json::text(ready, {"status"}) == "False" && json::text(ready, {"reason"}).empty() &&
         has_condition(pod, "ContainersReady", "True");
}

Problem node_lost(const json::Value& pod) {
  const std::string node(json::text(&pod, {"spec", "nodeName"}));
  return {.reason = "NodeLost", .message = "the node " + node + " does not answer"};
}

std::optional<Problem> of_scheduling_condition(const json::Value& pod) {
  const json::Value* scheduled = condition_of(&pod, "PodScheduled");
  if (json::text(scheduled, {"status"}) != "False") return std::nullopt;
  if (json::text(scheduled, {"reason"}) == "SchedulingGated")
    return Problem{.reason = "SchedulingGated", .message = "the pod waits until its scheduling gates are taken off"};
  return causes::of_scheduling(pod, json::text(scheduled, {"message"}));
}

}  // namespace

std::optional<Problem> pod_problem(const json::Value& pod) {
  if (!json::text(&pod, {"metadata", "deletionTimestamp"}).empty()) return std::nullopt;
  const std::string_view phase = json::text(&pod, {"status", "phase"}), reason = json::text(&pod, {"status", "reason"});
  if (phase == "Succeeded") return std::nullopt;
  if (phase == "Unknown" || reason == "NodeLost") return node_lost(pod);
  if (phase == "Failed" && !reason.empty())
    return causes::of_departure(reason, json::text(&pod, {"status", "message"}));
  if (auto problem = of_scheduling_condition(pod)) return problem;
  if (auto problem = of_containers(pod, true)) return problem;
  if (auto problem = of_containers(pod, false)) return problem;
  if (is_on_silent_node(pod)) return node_lost(pod);
  if (phase == "Failed") return causes::of_departure({}, json::text(&pod, {"status", "message"}));
  return std::nullopt;
}

PodFacts pod_facts(const json::Value& pod) {
  return {.name = std::string(json::text(&pod, {"metadata", "name"})),
          .phase = std::string(json::text(&pod, {"status", "phase"})),
          .ready = has_condition(pod, "Ready", "True"),
          .deleting = !json::text(&pod, {"metadata", "deletionTimestamp"}).empty(),
          .scheduled = !json::text(&pod, {"spec", "nodeName"}).empty() || has_condition(pod, "PodScheduled", "True"),
          .problem = pod_problem(pod)};
}

const Problem* worst_problem(std::span<const PodFacts> pods) {
  const Problem* worst = nullptr;
  for (const PodFacts& pod : pods) {
    if (!pod.problem || pod.deleting) continue;
    if (worst == nullptr || order_of(*pod.problem) < order_of(*worst)) worst = &*pod.problem;
  }
  return worst;
}

bool is_waiting(const Problem& problem) {
  return !problem.lasting &&
         std::ranges::find(waiting_reasons, std::string_view(problem.reason)) != waiting_reasons.end();
}

}  // namespace stackgate::pods
