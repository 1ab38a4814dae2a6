#include "services/customizer/runs/cluster/log_lines.hpp"

#include <algorithm>
#include <utility>

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

using namespace log_lines_detail;

LogLines::LogLines(LogCursor& cursor)
    : cursor_(cursor),
      first_time_(cursor.time),
      first_at_time_(cursor.at_time),
      last_(cursor.time.empty() ? std::string() : comparable(cursor.time)) {}

std::optional<std::string_view> LogLines::take(std::string_view line) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view time = line.substr(0, space);
  std::string key = comparable(time);
  if (!last_.empty() && key < last_) return std::nullopt;
  const bool is_same = key == last_;
  if (is_same && cursor_.time == first_time_ && ++passed_ <= first_at_time_) return std::nullopt;
  cursor_.at_time = is_same ? cursor_.at_time + 1 : 1;
  if (!is_same) {
    cursor_.time = time;
    last_ = std::move(key);
  }
  const std::string_view text = line.substr(std::min(space + 1, line.size()));
  cursor_.given += text.size() + 1;
  return text;
}

}  // namespace stackgate::customizer
