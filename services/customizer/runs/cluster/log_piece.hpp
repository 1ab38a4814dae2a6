// The next lines of a pod's log, from the API server.
#pragma once
#include <chrono>
#include <expected>
#include <string>
#include <string_view>

#include "services/customizer/runs/cluster/log_lines.hpp"
#include "services/kit/kube/api_error.hpp"
#include "services/kit/kube/transport.hpp"

namespace stackgate::customizer {

struct LogPiece {
  std::string lines{};      // each with its end; of a long one the first 64 KiB
  bool has_more = false;    // to be read at once
  bool is_endless = false;  // its last line is longer than a line may be, and goes on: each reading has it again
};

/// Behind `cursor`, which moves on: some megabytes at most, however much of the log has to be passed over, and however
/// long its lines are. `has_ended`: a last line without its end counts, too. Blocks for `limit` at most; the error: it
/// cannot be read, and nothing of it was.
std::expected<LogPiece, kube::ApiError> read_log_piece(kube::Transport& transport, std::string_view ns,
                                                       std::string_view pod, LogCursor& cursor, bool has_ended,
                                                       std::chrono::milliseconds limit);

/// Until the next reading of what still writes: longer and longer while it writes nothing but one endless line, all of
/// which each reading fetches. Pure.
std::chrono::seconds next_pause(const LogPiece& piece, std::chrono::seconds last);

}  // namespace stackgate::customizer
