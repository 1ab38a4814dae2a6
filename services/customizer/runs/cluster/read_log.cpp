// What the pods of a stage write.
#include "services/customizer/objects/names.hpp"
#include "services/customizer/runs/cluster/cluster.hpp"
#include "services/customizer/runs/cluster/log_piece.hpp"
#include "services/customizer/runs/cluster/seen_objects.hpp"

namespace stackgate::customizer {
namespace read_log_detail {

constexpr std::chrono::seconds pause_after_fault{60}, limit{3};

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
  auto piece = read_log_piece(client_->transport(), ns_, pod.name, reading.cursor, has_ended, limit);
  if (!piece) {
    reading.next = now + pause_after_fault;
    // A pod that is gone, or whose node is, has no log any more.
    if (piece.error().failure == kube::Failure::answered) return std::string();
    return std::unexpected(Error{piece.error().message});
  }
  reading.pause = next_pause(*piece, reading.pause);
  reading.next = piece->has_more ? std::chrono::steady_clock::time_point{} : now + reading.pause;
  offset = reading.cursor.given;
  return std::move(piece->lines);
}

}  // namespace stackgate::customizer
