#include <array>

#include <fmt/format.h>

#include "services/kit/http/text.hpp"
#include "services/kit/web/conditional.hpp"

namespace stackgate::web {
namespace http_date_detail {

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> long_days{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};

// Reads a date from its front to its back; after a fault everything fails.
class DateText {
 public:
  explicit DateText(std::string_view text) : rest_(text) {}
  void word(std::string_view expected) {
    good_ = good_ && rest_.starts_with(expected);
    if (good_) rest_.remove_prefix(expected.size());
  }
  int number(std::size_t digits) {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      good_ = good_ && !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9';
      if (!good_) return 0;
      value = value * 10 + (rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }
  template <std::size_t N>
  int one_of(const std::array<std::string_view, N>& words) {
    for (std::size_t i = 0; good_ && i < N; ++i) {
      if (!rest_.starts_with(words[i])) continue;
      rest_.remove_prefix(words[i].size());
      return static_cast<int>(i);
    }
    good_ = false;
    return 0;
  }
  bool skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool done() const { return good_ && rest_.empty(); }
  bool starts_with(std::string_view text) const { return rest_.starts_with(text); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

struct Clock {
  int hour = 0, minute = 0, second = 0;
};

Clock read_clock(DateText& text) {
  Clock clock;
  clock.hour = text.number(2);
  text.word(":");
  clock.minute = text.number(2);
  text.word(":");
  clock.second = text.number(2);
  return clock;
}

std::optional<std::chrono::sys_seconds> to_time(int year, int month, int day, const Clock& clock) {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || clock.hour > 23 || clock.minute > 59 || clock.second > 60) return {};
  return std::chrono::sys_days(date) + std::chrono::hours(clock.hour) + std::chrono::minutes(clock.minute) +
         std::chrono::seconds(clock.second);
}

// Sun, 06 Nov 1994 08:49:37 GMT
std::optional<std::chrono::sys_seconds> read_imf_fixdate(DateText text) {
  text.one_of(days);
  text.word(", ");
  const int day = text.number(2);
  text.word(" ");
  const int month = text.one_of(months) + 1;
  text.word(" ");
  const int year = text.number(4);
  text.word(" ");
  const Clock clock = read_clock(text);
  text.word(" GMT");
  return text.done() ? to_time(year, month, day, clock) : std::nullopt;
}

// Sunday, 06-Nov-94 08:49:37 GMT
std::optional<std::chrono::sys_seconds> read_rfc850(DateText text) {
  text.one_of(long_days);
  text.word(", ");
  const int day = text.number(2);
  text.word("-");
  const int month = text.one_of(months) + 1;
  text.word("-");
  const int year = text.number(2);
  text.word(" ");
  const Clock clock = read_clock(text);
  text.word(" GMT");
  // Two digits mean no year more than 50 years ahead; the form died before 2000.
  return text.done() ? to_time(year >= 70 ? 1900 + year : 2000 + year, month, day, clock) : std::nullopt;
}

// Sun Nov  6 08:49:37 1994
std::optional<std::chrono::sys_seconds> read_asctime(DateText text) {
  text.one_of(days);
  text.word(" ");
  const int month = text.one_of(months) + 1;
  text.word(" ");
  const int day = text.skip(' ') ? text.number(1) : text.number(2);
  text.word(" ");
  const Clock clock = read_clock(text);
  text.word(" ");
  const int year = text.number(4);
  return text.done() ? to_time(year, month, day, clock) : std::nullopt;
}

}  // namespace http_date_detail

std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text) {
  using namespace http_date_detail;
  const DateText date(http::trim(text));
  if (const auto time = read_imf_fixdate(date)) return time;
  if (const auto time = read_rfc850(date)) return time;
  return read_asctime(date);
}

std::string format_http_date(std::chrono::sys_seconds time) {
  using namespace http_date_detail;
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", days[std::chrono::weekday(day).c_encoding()],
                     static_cast<unsigned>(date.day()), months[static_cast<unsigned>(date.month()) - 1],
                     static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count());
}

}  // namespace stackgate::web
