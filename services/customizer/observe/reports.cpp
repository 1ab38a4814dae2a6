#include "services/customizer/observe/reports.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "services/kit/json/read.hpp"
#include "services/kit/pod_problems/problem.hpp"
#include "services/kit/pod_problems/text.hpp"

namespace stackgate::customizer::reports {
namespace {

using pods::condition_of;
using pods::shortened;

std::string_view without_end(std::string_view text) {
  while (text.ends_with('.') || text.ends_with(' ') || text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

std::string queue_text(std::string_view queue) {
  return queue.empty() ? std::string("the default queue") : fmt::format("the queue {}", queue);
}

bool is_true(const json::Value* condition) { return json::text(condition, {"status"}) == "True"; }

/// "3/4 tasks in gang unschedulable: …" → 4, the pods of the gang. Some versions write "1/0": then nothing.
std::optional<unsigned> gang_size(std::string_view message) {
  const std::size_t slash = message.find('/');
  unsigned size = 0;
  if (slash == std::string_view::npos) return std::nullopt;
  const char* begin = message.data() + slash + 1;
  const auto read = std::from_chars(begin, message.data() + message.size(), size);
  return read.ec == std::errc() && size > 0 ? std::optional(size) : std::nullopt;
}

/// What Volcano puts behind its counts: "Origin reason is x-0: 0/4 nodes are unavailable: 4 Insufficient cpu."
std::string_view origin_of(std::string_view message) {
  constexpr std::string_view head = "Origin reason is ";
  const std::size_t at = message.find(head);
  if (at == std::string_view::npos) return {};
  message.remove_prefix(at + head.size());
  const std::size_t colon = message.find(": ");  // behind the pod's name
  return without_end(colon == std::string_view::npos ? message : message.substr(colon + 2));
}

/// When the newest of these events was seen.
std::string_view time_of(const json::Value& event) {
  for (const std::string_view key : {"lastTimestamp", "eventTime", "firstTimestamp"})
    if (const std::string_view time = json::text(&event, {key}); !time.empty()) return time;
  return json::text(&event, {"metadata", "creationTimestamp"});
}

const json::Value* newest(std::span<const json::Value* const> events, std::string_view reason) {
  const json::Value* found = nullptr;
  for (const json::Value* each : events)
    if (json::text(each, {"reason"}) == reason && (found == nullptr || time_of(*each) > time_of(*found))) found = each;
  return found;
}

}  // namespace

std::string of_pod_group(const json::Value& pod_group, std::string_view queue) {
  const std::string_view phase = json::text(&pod_group, {"status", "phase"});
  if (phase == "Running" || phase == "Completed") return {};
  const json::Value* refused = condition_of(&pod_group, "Unschedulable");
  const json::Value* placed = condition_of(&pod_group, "Scheduled");
  // Both stay; the later one holds.
  if (is_true(refused) && is_true(placed) &&
      json::text(placed, {"lastTransitionTime"}) >= json::text(refused, {"lastTransitionTime"}))
    return {};
  const std::string_view message = json::text(refused, {"message"});
  if (is_true(refused)) {
    const auto size = gang_size(message);
    const std::string pods = !size        ? "its pods"
                             : *size == 1 ? "its pod"
                                          : fmt::format("all {} of its pods at once", *size);
    const std::string_view origin = origin_of(message);
    return shortened(
        fmt::format("{} has no room for {}{}{}", queue_text(queue), pods, origin.empty() ? "" : ": ", origin),
        longest_text);
  }
  if (phase == "Pending" || phase.empty())
    return fmt::format("{} has not taken it in yet: what the queue may use is in use, or the queue is closed",
                       queue_text(queue));
  return {};
}

std::string of_workload(const json::Value& workload, std::string_view queue) {
  if (is_true(condition_of(&workload, "Admitted"))) return {};
  const json::Value* reserved = condition_of(&workload, "QuotaReserved");
  const json::Value* evicted = condition_of(&workload, "Evicted");
  if (is_true(reserved)) {
    for (const json::Value& check : json::items(&workload, {"status", "admissionChecks"}))
      if (json::text(&check, {"state"}) != "Ready")
        return shortened(fmt::format("{} has quota for it, and waits for the admission check {}: {}", queue_text(queue),
                                     json::text(&check, {"name"}), without_end(json::text(&check, {"message"}))),
                         longest_text);
    return fmt::format("{} has quota for it, and has not admitted it yet", queue_text(queue));
  }
  const std::string_view message = without_end(json::text(reserved, {"message"}));
  if (message.empty() && is_true(evicted))
    return shortened(
        fmt::format("{} has put it back: {}", queue_text(queue), without_end(json::text(evicted, {"message"}))),
        longest_text);
  if (message.empty()) return fmt::format("{} has not looked at it yet", queue_text(queue));
  if (json::text(reserved, {"reason"}) == "Inadmissible")
    return shortened(fmt::format("{} cannot take it: {}", queue_text(queue), message), longest_text);
  return shortened(fmt::format("it waits in {}: {}", queue_text(queue), message), longest_text);
}

std::string of_refused_pods(std::span<const json::Value* const> events) {
  const json::Value* event = newest(events, "FailedCreate");
  if (event == nullptr) return {};
  std::string_view text = without_end(json::text(event, {"message"}));
  // Error creating: pods "x" is forbidden: exceeded quota: …
  constexpr std::string_view forbidden = "is forbidden: ";
  if (const std::size_t at = text.find(forbidden); at != std::string_view::npos)
    text.remove_prefix(at + forbidden.size());
  if (text.starts_with("exceeded quota: "))
    return shortened(fmt::format("the namespace's quota does not allow its pods: {}", text.substr(16)), longest_text);
  return shortened(fmt::format("the cluster refuses its pods: {}", text), longest_text);
}

std::string of_scheduling(std::span<const json::Value* const> events) {
  const json::Value* event = newest(events, "FailedScheduling");
  if (event == nullptr) event = newest(events, "Unschedulable");
  return event == nullptr ? std::string() : shortened(without_end(json::text(event, {"message"})), longest_text);
}

}  // namespace stackgate::customizer::reports
