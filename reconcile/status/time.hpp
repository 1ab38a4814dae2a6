// Times as Kubernetes writes them: RFC 3339, whole seconds, UTC. Only their differences are of use here: no clock is
// asked. Pure and thread-safe.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stackgate::reconcile {

namespace detail {
inline std::int64_t number_at(std::string_view text, std::size_t at, std::size_t digits) {
  std::int64_t out = 0;
  for (const char c : text.substr(at, digits)) {
    if (c < '0' || c > '9') return -1;
    out = out * 10 + (c - '0');
  }
  return out;
}

}  // namespace detail

/// Seconds since the epoch of "2026-11-21T05:43:16Z", or nothing; Kubernetes writes times in UTC.
inline std::optional<std::int64_t> seconds_of(std::string_view time) {
  if (time.size() < 20) return std::nullopt;
  const std::int64_t year = detail::number_at(time, 0, 4);
  const std::int64_t month = detail::number_at(time, 5, 2), day = detail::number_at(time, 8, 2),
                     hour = detail::number_at(time, 11, 2), minute = detail::number_at(time, 14, 2),
                     second = detail::number_at(time, 17, 2);
  if (std::min({year, month, day, hour, minute, second}) < 0) return std::nullopt;
  const std::chrono::sys_days days =
      std::chrono::year(static_cast<int>(year)) / static_cast<int>(month) / static_cast<int>(day);
  return ((days.time_since_epoch().count() * 24 + hour) * 60 + minute) * 60 + second;
}

}  // namespace stackgate::reconcile
