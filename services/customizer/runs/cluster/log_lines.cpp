#include "services/customizer/runs/cluster/log_lines.hpp"

#include <algorithm>

namespace stackgate::customizer {
namespace log_lines_detail {

/// To be compared as text: fractions of seconds are as long as their last digit.
std::string comparable(std::string_view time) {
  constexpr std::size_t seconds = 19, digits = 9;  // 2026-11-26T21:00:00
  std::string out(time.substr(0, seconds));
  std::string fraction;
  if (time.size() > seconds && time[seconds] == '.')
    fraction = time.substr(seconds + 1, time.find_first_not_of("0123456789", seconds + 1) - seconds - 1);
  fraction.resize(digits, '0');
  return out + fraction;
}

}  // namespace log_lines_detail

std::string take_lines(LogCursor& cursor, std::string_view text, bool is_end) {
  using namespace log_lines_detail;
  std::string out;
  std::string last = cursor.time.empty() ? std::string() : comparable(cursor.time);
  unsigned passed = 0;  // lines of the cursor's time
  const LogCursor before = cursor;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos && !is_end) break;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view time = line.substr(0, space);
    const std::string key = comparable(time);
    if (!last.empty() && key < last) continue;
    const bool is_same = key == last;
    if (is_same && cursor.time == before.time && ++passed <= before.at_time) continue;
    cursor.at_time = is_same ? cursor.at_time + 1 : 1;
    if (!is_same) {
      cursor.time = time;
      last = key;
    }
    out += line.substr(std::min(space + 1, line.size()));
    out += '\n';
  }
  cursor.given += out.size();
  return out;
}

}  // namespace stackgate::customizer
