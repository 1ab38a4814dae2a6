#include "services/kit/http_client/retry.hpp"

#include <algorithm>
#include <array>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/backoff.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/time.hpp"

namespace stackgate::http_client {
namespace retry_detail {

constexpr BackoffLimits between_attempts{std::chrono::milliseconds(200), std::chrono::milliseconds(10'000)};

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
  if (std::ranges::all_of(value, ascii::is_digit))
    return seconds(value.size() > 9 ? 999'999'999 : *to_number<int>(value));
  const auto date = from_http_date(value);
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
