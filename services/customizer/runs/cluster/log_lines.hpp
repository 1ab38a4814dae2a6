// A pod's log read piece by piece: a container's log has times and no offsets. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::customizer {

/// How far a log was read.
struct LogCursor {
  std::string time{};       // of the last line that was taken, as the log has it; empty: none was
  unsigned at_time = 0;     // lines of that time that were taken
  std::uint64_t given = 0;  // bytes of lines that were handed out, each with its end
};

/// One reading of a log, which begins at the cursor's time or before.
class LogLines {
 public:
  /// `cursor` must outlive it, and moves on with each line that is taken.
  explicit LogLines(LogCursor& cursor);
  /// The next line, which begins with its time and a space: what is behind these. Nothing: it was taken before.
  std::optional<std::string_view> take(std::string_view line);

 private:
  LogCursor& cursor_;
  const std::string first_time_;
  const unsigned first_at_time_;
  std::string last_{};   // the cursor's time, to be compared
  unsigned passed_ = 0;  // lines of the first time
};

}  // namespace stackgate::customizer
