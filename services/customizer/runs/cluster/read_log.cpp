// What the pods of a stage write.
#include <fmt/format.h>

#include "services/customizer/objects/names.hpp"
#include "services/customizer/runs/cluster/cluster.hpp"
#include "services/customizer/runs/cluster/seen_objects.hpp"
#include "services/kit/kube/pod_log.hpp"

namespace stackgate::customizer {
namespace read_log_detail {

constexpr std::size_t piece = 2U << 20U;
constexpr std::chrono::seconds pause{5}, pause_after_fault{60}, limit{3};

}  // namespace read_log_detail

std::expected<std::string, Error> ClusterExecutor::log(const Work& work, Stage stage, std::uint64_t& offset) {
  using namespace read_log_detail;
  const auto pods = pods_of(store_.of(work.job.id), stage, work.stored.job.stage(stage).attempts);
  if (pods.empty()) return std::string();
  const Kept& pod = *pods.front();
  const std::string_view phase = phase_of(pod);
  if (phase == "Pending" || phase.empty()) return std::string();
  const bool has_ended = phase != "Running";
  Reading& reading = readings_[work.job.id];
  if (offset == 0) reading = {};
  const auto now = std::chrono::steady_clock::now();
  if (!has_ended && now < reading.next) return std::string();
  reading.next = now + pause;
  const std::string path = kube::pod_log_path(ns_, pod.name, {.timestamps = true, .since_time = reading.cursor.time}) +
                           fmt::format("&limitBytes={}", piece);
  const auto answer = client_->send({.path = path, .accept = "application/json, */*", .idempotent = true},
                                    kube::CallOptions::once(limit));
  if (!answer) {
    reading.next = now + pause_after_fault;
    // A pod that is gone, or whose node is, has no log any more.
    if (answer.error().failure == kube::Failure::answered) return std::string();
    return std::unexpected(Error{answer.error().message});
  }
  const bool is_whole = answer->body.size() < piece;
  if (!is_whole) reading.next = {};  // there is more
  std::string lines = take_lines(reading.cursor, answer->body, has_ended && is_whole);
  offset = reading.cursor.given;
  return lines;
}

}  // namespace stackgate::customizer
