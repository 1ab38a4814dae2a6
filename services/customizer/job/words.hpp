// Durations as people write them. Pure.
#pragma once
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace stackgate::customizer {

/// "2 h", "1 h 30 min", "45 s": the two largest units.
inline std::string duration_text(std::int64_t seconds) {
  const std::int64_t days = seconds / 86'400, hours = seconds / 3600 % 24, minutes = seconds / 60 % 60,
                     rest = seconds % 60;
  const auto two = [](std::int64_t a, const char* unit, std::int64_t b, const char* below) {
    return b == 0 ? fmt::format("{} {}", a, unit) : fmt::format("{} {} {} {}", a, unit, b, below);
  };
  if (days > 0) return two(days, "d", hours, "h");
  if (hours > 0) return two(hours, "h", minutes, "min");
  if (minutes > 0) return two(minutes, "min", rest, "s");
  return fmt::format("{} s", rest);
}

}  // namespace stackgate::customizer
