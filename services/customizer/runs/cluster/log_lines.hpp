// A pod's log read piece by piece: a container's log has times and no offsets. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stackgate::customizer {

/// How far a log was read.
struct LogCursor {
  std::string time{};       // of the last line that was taken, as the log has it; empty: none was
  unsigned at_time = 0;     // lines of that time that were taken
  std::uint64_t given = 0;  // bytes of lines that were handed out
};

/// Of `text`, each line of which begins with its time and a space, and which begins at the cursor's time or before:
/// the whole lines behind the cursor, without their times, each with its end. `is_end`: a last line without its end
/// counts, too.
std::string take_lines(LogCursor& cursor, std::string_view text, bool is_end);

}  // namespace stackgate::customizer
