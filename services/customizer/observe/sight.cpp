#include "services/customizer/observe/sight.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/customizer/objects/names.hpp"
#include "services/customizer/observe/reports.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/pod_problems/pod.hpp"
#include "services/kit/pod_problems/text.hpp"

namespace stackgate::customizer {
namespace sight_detail {

using Objects = StageSight::Objects;
using Pods = std::vector<const json::Value*>;

std::string_view without_end(std::string_view text) {
  while (text.ends_with('.') || text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool condition_is_true(const json::Value& object, std::string_view type) {
  return json::text(pods::condition_of(&object, type), {"status"}) == "True";
}

/// Of a pod that has failed: the code of its container, or nothing.
std::optional<std::int64_t> exit_code(const json::Value& pod) {
  for (const json::Value& each : json::items(&pod, {"status", "containerStatuses"}))
    if (const json::Value* ended = json::at(&each, {"state", "terminated"}))
      if (const std::int64_t code = json::integer(ended, {"exitCode"}); code != 0) return code;
  return std::nullopt;
}

/// Somebody needed its place: the cluster's schedulers and nodes write that, and why.
std::optional<std::string_view> eviction_of(const json::Value& pod) {
  const json::Value* target = pods::condition_of(&pod, "DisruptionTarget");
  if (json::text(target, {"status"}) != "True") return std::nullopt;
  return without_end(json::text(target, {"message"}));
}
bool is_deleted(const json::Value& pod) { return !json::text(&pod, {"metadata", "deletionTimestamp"}).empty(); }

std::string eviction_text(const Pods& all, std::string_view head) {
  for (const json::Value* pod : all)
    if (const auto why = eviction_of(*pod))
      return pods::shortened(fmt::format("{}{}{}", head, why->empty() ? "" : ": ", *why), reports::longest_text);
  return {};
}

/// The pod whose own end is a cause that another attempt does not cure. One that was made to end is none.
const json::Value* culprit_of(Stage stage, const Pods& all) {
  for (const json::Value* pod : all)
    if (const auto code = exit_code(*pod); code && !may_retry_after(stage, *code) && !is_deleted(*pod)) return pod;
  return nullptr;
}

/// How pods have failed: the first that names a code decides, unless one of them was evicted: then it is no wonder.
StageSight failure_of(Stage stage, const Pods& all, std::string_view otherwise) {
  StageSight out{.objects = Objects::there, .state = State::failed};
  std::vector<pods::PodFacts> facts;
  bool lost = all.empty(), any_failed = false;
  for (const json::Value* pod : all) {
    lost = lost || is_deleted(*pod);
    if (json::text(pod, {"status", "phase"}) != "Failed") continue;
    any_failed = true;
    const std::string_view reason = json::text(pod, {"status", "reason"});
    if (reason == "DeadlineExceeded") {
      out.message = "it took longer than it may (timeout)";
      return out;
    }
    facts.push_back(pods::pod_facts(*pod));
    lost = lost || reason == "Evicted" || reason == "NodeLost" || reason == "Shutdown" || reason == "Terminated" ||
           reason == "Preempting";
    if (const auto code = exit_code(*pod)) out.may_retry = out.may_retry || may_retry_after(stage, *code);
  }
  // Whoever is stopped with the others ends with that code, too: a cause of its own is worth more.
  const pods::Problem* worst = pods::worst_problem(facts);
  if (std::string evicted = eviction_text(all, "its pod was evicted"); !evicted.empty()) {
    out.may_retry = true;
    out.message = std::move(evicted);
    if (worst != nullptr && worst->reason == "Evicted") out.message = worst->message;
    return out;
  }
  out.may_retry = out.may_retry || lost || !any_failed;
  out.message = worst != nullptr ? worst->message : std::string(otherwise);
  if (const json::Value* pod = culprit_of(stage, all)) {
    out.may_retry = false;
    out.message = pods::pod_problem(*pod).value_or(pods::Problem{.message = out.message}).message;
  }
  if (out.message.empty() && std::ranges::any_of(all, [](const json::Value* pod) { return is_deleted(*pod); }))
    out.message = "its pod was deleted";
  if (out.message.empty()) out.message = "it has failed, and no pod tells why";
  return out;
}

/// Why pods that are there do not run; empty: nothing keeps them.
std::string pods_wait(const StageObjects& objects, const Pods& all) {
  std::vector<pods::PodFacts> facts;
  for (const json::Value* pod : all) facts.push_back(pods::pod_facts(*pod));
  const pods::Problem* worst = pods::worst_problem(facts);
  const bool queued = objects.stage == Stage::training && !objects.queue.empty();
  if (worst != nullptr) {
    const bool placing = worst->reason == "Unschedulable" && queued;
    return placing ? fmt::format("it waits in the queue {}: {}", objects.queue, worst->message) : worst->message;
  }
  if (const std::string event = reports::of_scheduling(objects.events); !event.empty())
    return queued ? fmt::format("it waits in the queue {}: {}", objects.queue, event) : event;
  const bool placed = std::ranges::any_of(facts, &pods::PodFacts::scheduled);
  // A pod whose scheduler, or whose leaf queue, is not there stays as it is, without a word.
  if (queued && !placed && !facts.empty())
    return fmt::format("{} has not looked at it yet; it needs a leaf queue {}", to_string(objects.scheduler),
                       objects.queue);
  return {};
}

StageSight pending_or_running(const StageObjects& objects, const Pods& all, std::string waits) {
  StageSight out{.objects = Objects::there, .state = State::pending, .message = std::move(waits)};
  const auto runs = [](const json::Value* pod) { return json::text(pod, {"status", "phase"}) == "Running"; };
  const auto count = std::ranges::count_if(all, runs);
  const auto active = std::ranges::count_if(all, [](const json::Value* pod) {
    const std::string_view phase = json::text(pod, {"status", "phase"});
    return phase == "Pending" || phase == "Running";
  });
  if (count > 0 && count == active)
    return {.objects = Objects::there, .state = State::running, .message = eviction_text(all, "it is being evicted")};
  if (out.message.empty()) out.message = pods_wait(objects, all);
  if (count > 0)
    out.message = fmt::format("{} of {} pods run{}{}", count, active, out.message.empty() ? "" : ": ", out.message);
  return out;
}

StageSight of_batch_job(const StageObjects& objects, const json::Value& job, const Pods& all) {
  if (condition_is_true(job, "Complete")) return {.objects = Objects::there, .state = State::completed};
  if (condition_is_true(job, "Failed"))
    return failure_of(objects.stage, all, json::text(pods::condition_of(&job, "Failed"), {"message"}));
  std::string waits;
  if (objects.stage == Stage::training && objects.workload != nullptr)
    waits = reports::of_workload(*objects.workload, objects.queue);
  else if (objects.stage == Stage::training && json::flag(&job, {"spec", "suspend"}))
    waits = fmt::format("Kueue has not looked at it yet; it needs a LocalQueue {} in the namespace", objects.queue);
  if (waits.empty() && all.empty()) waits = reports::of_refused_pods(objects.events);
  return pending_or_running(objects, all, std::move(waits));
}

/// https://volcano.sh/en/docs/vcjob/: the phases of a Job.
StageSight of_volcano_job(const StageObjects& objects, const json::Value& job) {
  const std::string_view phase = json::text(&job, {"status", "state", "phase"}),
                         message = json::text(&job, {"status", "state", "message"});
  if (phase == "Completed") return {.objects = Objects::there, .state = State::completed};
  if (phase == "Failed") return failure_of(objects.stage, objects.pods, message);
  if (phase == "Aborted" || phase == "Terminated") {
    const bool failed = std::ranges::any_of(
        objects.pods, [](const json::Value* pod) { return json::text(pod, {"status", "phase"}) == "Failed"; });
    if (failed) return failure_of(objects.stage, objects.pods, message);
    return {.objects = Objects::there,
            .state = State::failed,
            .message = fmt::format("the Volcano Job was {}{}{}", phase == "Aborted" ? "aborted" : "terminated",
                                   message.empty() ? "" : ": ", pods::shortened(message, reports::longest_text))};
  }
  if (phase == "Restarting")
    return {.objects = Objects::there,
            .state = State::running,
            .message = fmt::format("Volcano starts it again ({} times so far)",
                                   json::integer(&job, {"status", "retryCount"}))};
  if (phase == "Running" || phase == "Completing") return pending_or_running(objects, objects.pods, {});
  if (phase == "Aborting" || phase == "Terminating") return {.objects = Objects::there, .state = State::running};
  std::string waits;
  if (objects.pod_group != nullptr) waits = reports::of_pod_group(*objects.pod_group, objects.queue);
  if (objects.pods.empty() && waits.empty()) waits = reports::of_refused_pods(objects.events);
  if (objects.pods.empty() && waits.empty())
    waits = objects.pod_group == nullptr ? "Volcano has not looked at it yet; are its controllers running?" : "";
  StageSight out = pending_or_running(objects, objects.pods, waits);
  // Which resource is missing is written in the pods.
  if (const std::string why = pods_wait(objects, objects.pods); !waits.empty() && !why.empty())
    out.message = fmt::format("{}; {}", waits, why.substr(why.starts_with("it waits in") ? why.find(": ") + 2 : 0));
  return out;
}

bool is_foreign(const StageObjects& objects, const json::Value& job) {
  return json::text(&job, {"metadata", "labels", customization_label}) != objects.id;
}

/// The dataset and the model: what has failed decides, then what is not done.
StageSight with_model(StageSight dataset, StageSight model) {
  for (StageSight* each : {&dataset, &model})
    if (each->state == State::failed) {
      each->message = fmt::format("{}: {}", each == &model ? "the model" : "the dataset", each->message);
      return *each;
    }
  if (dataset.state == State::completed) return model;
  if (model.state == State::completed) return dataset;
  return model.state == State::running ? model : dataset;
}

}  // namespace sight_detail

bool may_retry_after(Stage stage, std::int64_t code) {
  constexpr std::int64_t stopped = 143, exit_again = 75;
  if (code == stopped) return true;
  return stage == Stage::training ? code == exit_again : code == 1 || code == 6;
}

bool has_failed(const json::Value& batch_job) { return sight_detail::condition_is_true(batch_job, "Failed"); }

std::string node_of(const std::vector<const json::Value*>& pods) {
  for (const json::Value* each : pods)
    if (const std::string_view node = json::text(each, {"spec", "nodeName"}); !node.empty()) return std::string(node);
  return {};
}

StageSight sight_of(const StageObjects& objects) {
  using namespace sight_detail;
  if (objects.job == nullptr) return {};
  if (is_foreign(objects, *objects.job))
    return {.objects = Objects::foreign,
            .message = fmt::format("there is a Job {} that is not this customization's; delete it",
                                   json::text(objects.job, {"metadata", "name"}))};
  if (objects.stage == Stage::training && objects.scheduler == Scheduler::volcano)
    return of_volcano_job(objects, *objects.job);
  StageSight own = of_batch_job(objects, *objects.job, objects.pods);
  if (objects.stage != Stage::download || !objects.needs_model) return own;
  if (objects.model_job == nullptr) {
    // Its time to live may be over before the dataset is here.
    return own.state == State::failed || own.state == State::completed ? StageSight{} : own;
  }
  return with_model(own, of_batch_job(objects, *objects.model_job, objects.model_pods));
}

}  // namespace stackgate::customizer
