#include "services/kit/base/time.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

namespace stackgate {
namespace time_detail {

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> long_days{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};

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

/// Reads a text from its front; after a fault everything fails.
struct Reader {
  std::string_view rest;
  bool good = true;

  bool skip(std::string_view word) {
    if (!good || !rest.starts_with(word)) return false;
    rest.remove_prefix(word.size());
    return true;
  }
  void literal(std::string_view word) { good = skip(word); }
  int number(std::size_t digits) {
    const int value = digits_at(rest, 0, digits);
    good = good && value >= 0;
    if (good) rest.remove_prefix(digits);
    return value;
  }
  int one_of(std::span<const std::string_view> words) {
    const auto found = std::ranges::find_if(words, [this](std::string_view word) { return skip(word); });
    good = found != words.end();
    return static_cast<int>(found - words.begin());
  }
};

/// Cuts off what `form` describes, as strptime(3) has it, but strict and in English: every number has its full width.
std::optional<std::chrono::sys_seconds> cut_time(std::string_view& text, std::string_view form) {
  Reader in{text};
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  for (std::size_t i = 0; i < form.size() && in.good; ++i) {
    const char part = form[i] == '%' ? form[++i] : '\0';
    if (part == 'Y') {
      year = in.number(4);
    } else if (part == 'y') {  // no year is more than 50 years ahead, and the form died before 2000
      const int digits = in.number(2);
      year = digits + (digits >= 70 ? 1900 : 2000);
    } else if (part == 'm') {
      month = in.number(2);
    } else if (part == 'b') {
      month = in.one_of(months) + 1;
    } else if (part == 'd') {
      day = in.number(2);
    } else if (part == 'e') {  // " 6" or "06"
      day = in.number(in.skip(" ") ? 1 : 2);
    } else if (part == 'a' || part == 'A') {
      in.one_of(part == 'a' ? days : long_days);
    } else if (part == 'T') {
      hour = in.number(2);
      in.literal(":");
      minute = in.number(2);
      in.literal(":");
      second = in.number(2);
    } else {
      in.literal(form.substr(i, 1));
    }
  }
  if (!in.good || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  text = in.rest;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
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
  const bool small = text.size() > 10 && text[10] == 't';
  const auto time = time_detail::cut_time(text, small ? "%Y-%m-%dt%T" : "%Y-%m-%dT%T");
  if (!time) return std::nullopt;
  if (text.starts_with('.')) text.remove_prefix(std::min(text.find_first_not_of("0123456789", 1), text.size()));
  const auto offset = time_detail::offset_of(text);
  if (!offset) return std::nullopt;
  return *time - *offset;
}

std::string to_http_date(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                     time_detail::days[std::chrono::weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                     time_detail::months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::optional<std::chrono::sys_seconds> from_http_date(std::string_view text) {
  for (const std::string_view form : {"%a, %d %b %Y %T GMT", "%A, %d-%b-%y %T GMT", "%a %b %e %T %Y"}) {
    std::string_view rest = text;
    if (const auto time = time_detail::cut_time(rest, form); time && rest.empty()) return time;
  }
  return std::nullopt;
}

}  // namespace stackgate
