#include "services/datastore/accounts/times.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace stackgate::datastore {

std::string to_rfc3339(std::chrono::system_clock::time_point time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

std::optional<std::chrono::system_clock::time_point> from_rfc3339(std::string_view text) {
  if (text.size() != 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' ||
      text[19] != 'Z')
    return std::nullopt;
  static constexpr std::array<std::size_t, 6> at = {0, 5, 8, 11, 14, 17};
  std::array<int, 6> number{};
  for (std::size_t i = 0; i < at.size(); ++i) {
    const char* begin = text.data() + at[i];
    const char* end = begin + (i == 0 ? 4 : 2);
    const auto [stop, error] = std::from_chars(begin, end, number[i]);
    if (error != std::errc{} || stop != end || *begin == '-') return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(number[0]),
                                         std::chrono::month(static_cast<unsigned>(number[1])),
                                         std::chrono::day(static_cast<unsigned>(number[2]))};
  if (!date.ok() || number[3] > 23 || number[4] > 59 || number[5] > 59) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(number[3]) + std::chrono::minutes(number[4]) +
         std::chrono::seconds(number[5]);
}

}  // namespace stackgate::datastore
