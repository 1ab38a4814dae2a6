#include "services/kit/http_client/retry.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "services/kit/base/backoff.hpp"

namespace stackgate::http_client {
namespace retry_detail {

constexpr BackoffLimits between_attempts{std::chrono::milliseconds(200), std::chrono::milliseconds(10'000)};

std::optional<int> digits(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.starts_with('-')) return std::nullopt;
  return value;
}

// IMF-fixdate: "Fri, 31 Dec 1999 23:59:59 GMT". The other two forms are obsolete, and nobody sends them.
std::optional<std::chrono::sys_seconds> fixed_date(std::string_view text) {
  using namespace std::chrono;
  static constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || text.substr(3, 2) != ", " || text[7] != ' ' || text[11] != ' ' || text[16] != ' ' ||
      text[19] != ':' || text[22] != ':' || text.substr(25) != " GMT")
    return std::nullopt;
  const auto month_at = std::ranges::find(months, text.substr(8, 3));
  const auto day_of = digits(text.substr(5, 2)), year_of = digits(text.substr(12, 4)),
             hour = digits(text.substr(17, 2)), minute = digits(text.substr(20, 2)),
             second = digits(text.substr(23, 2));
  if (month_at == months.end() || !day_of || !year_of || !hour || !minute || !second) return std::nullopt;
  const year_month_day date{year(*year_of), month(static_cast<unsigned>(month_at - months.begin()) + 1),
                            day(static_cast<unsigned>(*day_of))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return sys_days(date) + hours(*hour) + minutes(*minute) + seconds(*second);
}

}  // namespace retry_detail

bool is_idempotent(std::string_view method) {
  static constexpr std::array<std::string_view, 5> known = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"};
  return std::ranges::find(known, method) != known.end();
}

bool may_retry(const Attempt& attempt) {
  if (!attempt.reached) return true;
  if (!attempt.repeatable) return false;
  static constexpr std::array<int, 6> passing = {0, 408, 429, 502, 503, 504};
  return std::ranges::find(passing, attempt.status) != passing.end();
}

std::optional<std::chrono::seconds> parse_retry_after(std::string_view value,
                                                      std::chrono::system_clock::time_point now) {
  using namespace std::chrono;
  while (value.starts_with(' ')) value.remove_prefix(1);
  while (value.ends_with(' ')) value.remove_suffix(1);
  if (value.empty()) return std::nullopt;
  if (std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; }))
    return seconds(value.size() > 9 ? 999'999'999 : *retry_detail::digits(value));
  const auto date = retry_detail::fixed_date(value);
  if (!date) return std::nullopt;
  return std::max(ceil<seconds>(*date - now), seconds(0));
}

std::optional<std::chrono::milliseconds> wait_before(unsigned next, std::optional<std::chrono::seconds> retry_after,
                                                     double dice) {
  if (retry_after) {
    if (*retry_after > longest_retry_after) return std::nullopt;
    return std::chrono::milliseconds(*retry_after);
  }
  return backoff_wait(retry_detail::between_attempts, static_cast<int>(std::clamp(next, 1U, 60U)) - 1, 1 - dice);
}

}  // namespace stackgate::http_client
