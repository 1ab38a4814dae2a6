#include "services/kit/base/time.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace stackgate {
namespace time_detail {

/// The number of two or four digits at `at`; -1 when there is none.
int digits_at(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return -1;
  int out = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return -1;
    out = out * 10 + (c - '0');
  }
  return out;
}

/// "Z", "z", "+hh:mm" or "-hh:mm".
std::optional<std::chrono::minutes> offset_of(std::string_view zone) {
  if (zone == "Z" || zone == "z") return std::chrono::minutes(0);
  const int hours = digits_at(zone, 1, 2), minutes = digits_at(zone, 4, 2);
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':' || hours < 0 || minutes < 0)
    return std::nullopt;
  return std::chrono::minutes(hours * 60 + minutes) * (zone[0] == '-' ? -1 : 1);
}

}  // namespace time_detail

std::string to_rfc3339(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

std::string to_rfc3339(std::chrono::sys_time<std::chrono::nanoseconds> time, int digits) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  std::string out = to_rfc3339(second);
  if (digits <= 0) return out;
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time - second).count();
  out.pop_back();
  return out + fmt::format(".{:06}", micros).substr(0, static_cast<std::size_t>(digits) + 1) + 'Z';
}

std::optional<std::chrono::sys_seconds> from_rfc3339(std::string_view text) {
  using time_detail::digits_at;
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
      text[16] != ':')
    return std::nullopt;
  const std::array<int, 6> at{digits_at(text, 0, 4),  digits_at(text, 5, 2),  digits_at(text, 8, 2),
                              digits_at(text, 11, 2), digits_at(text, 14, 2), digits_at(text, 17, 2)};
  if (std::ranges::min(at) < 0 || at[3] > 23 || at[4] > 59 || at[5] > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(at[0]), std::chrono::month(static_cast<unsigned>(at[1])),
                                         std::chrono::day(static_cast<unsigned>(at[2]))};
  if (!date.ok()) return std::nullopt;
  text.remove_prefix(19);
  if (text.starts_with('.')) text.remove_prefix(std::min(text.find_first_not_of("0123456789", 1), text.size()));
  const auto offset = time_detail::offset_of(text);
  if (!offset) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(at[3]) + std::chrono::minutes(at[4]) +
         std::chrono::seconds(at[5]) - *offset;
}

}  // namespace stackgate
