#include "services/customizer/runs/cluster/log_piece.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "services/kit/kube/pod_log.hpp"

namespace stackgate::customizer {
namespace log_piece_detail {

constexpr std::size_t piece = 2U << 20U;

/// Filled on the transport's thread.
class Reading {
 public:
  Reading(LogCursor& cursor, bool has_ended) : lines_(cursor), has_ended_(has_ended) {}

  void line(std::string_view text) {
    const std::scoped_lock lock(mutex_);
    if (out_.has_more) return;
    const auto taken = lines_.take(text);
    if (!taken) return;
    out_.lines += *taken;
    out_.lines += '\n';
    out_.has_more = out_.lines.size() >= piece;
    if (out_.has_more) changed_.notify_one();
  }
  /// What is longer than a line may be is cut anyway, whether more of it comes or not.
  void rest(std::string_view text) {
    const bool is_endless = !has_ended_ && text.size() >= kube::PodLog::longest_line;
    if (has_ended_ || is_endless) line(text);
    const std::scoped_lock lock(mutex_);
    out_.is_endless = is_endless;
  }
  void ended(std::expected<void, kube::ApiError> result) {
    const std::scoped_lock lock(mutex_);
    result_ = std::move(result);
    changed_.notify_one();
  }
  /// Whether there is something by then.
  void wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [&] { return result_ || out_.has_more; });
  }
  /// When nothing is read any more.
  std::expected<LogPiece, kube::ApiError> result() {
    const bool is_whole = result_ && *result_;
    if (!is_whole && out_.lines.empty())
      return std::unexpected(
          result_ ? result_->error()
                  : kube::ApiError{.failure = kube::Failure::timed_out, .message = "the log did not come in time"});
    if (!is_whole) out_.has_more = true;
    return std::move(out_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  LogLines lines_;
  const bool has_ended_;
  LogPiece out_{};
  std::optional<std::expected<void, kube::ApiError>> result_{};
};

}  // namespace log_piece_detail

std::chrono::seconds next_pause(const LogPiece& piece, std::chrono::seconds last) {
  constexpr std::chrono::seconds usual{5}, longest{300};
  return piece.is_endless && piece.lines.empty() ? std::min(2 * last, longest) : usual;
}

std::expected<LogPiece, kube::ApiError> read_log_piece(kube::Transport& transport, std::string_view ns,
                                                       std::string_view pod, LogCursor& cursor, bool has_ended,
                                                       std::chrono::milliseconds limit) {
  log_piece_detail::Reading reading(cursor, has_ended);
  {
    const std::string since = cursor.time;
    const kube::PodLog log(transport, ns, pod, {.timestamps = true, .since_time = since},
                           {.line = [&](std::string_view line) { reading.line(line); },
                            .rest = [&](std::string_view line) { reading.rest(line); },
                            .ended = [&](auto result) { reading.ended(std::move(result)); }});
    reading.wait(limit);
  }
  return reading.result();
}

}  // namespace stackgate::customizer
