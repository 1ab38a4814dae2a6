#include "services/kit/html/words.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

#include "services/kit/base/time.hpp"

namespace stackgate::html {

std::string size_words(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 7> units = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return value < 9.95 ? fmt::format("{:.1f} {}", value, units[unit]) : fmt::format("{:.0f} {}", value, units[unit]);
}

std::string grouped(std::uint64_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3;) out.insert(at -= 3, 1, ',');
  return out;
}

std::string counted(std::uint64_t count, std::string_view word) {
  return fmt::format("{} {}{}", grouped(count), word, count == 1 ? "" : "s");
}

std::string date_words(std::int64_t seconds) {
  using namespace std::chrono;
  // Years that a date can have: what a commit claims may be anything.
  constexpr std::int64_t last = 253402300799;
  std::string text =
      to_rfc3339(sys_seconds{std::chrono::seconds(std::clamp<std::int64_t>(seconds, -62135596800, last))});
  text[10] = ' ';
  return text.substr(0, 16) + " UTC";
}

std::string ago_words(std::int64_t seconds, std::int64_t now) {
  constexpr std::int64_t minute = 60, hour = 3600, day = 86400, limit = 30 * day;
  if (seconds < now - limit || seconds > now + limit) return date_words(seconds).substr(0, 10);
  const std::int64_t distance = now - seconds, size = distance < 0 ? -distance : distance;
  const auto format = [&](std::int64_t unit, std::string_view word) {
    const std::string count = counted(static_cast<std::uint64_t>(size / unit), word);
    return distance < 0 ? "in " + count : count + " ago";
  };
  if (size < minute) return "just now";
  if (size < hour) return format(minute, "minute");
  if (size < day) return format(hour, "hour");
  return format(day, "day");
}

std::int64_t seconds_of(std::string_view text) {
  const auto time = from_rfc3339(text);
  return time ? time->time_since_epoch().count() : 0;
}

Html time_tag(std::int64_t seconds, std::int64_t now) {
  std::string machine = date_words(seconds);
  machine[10] = 'T';
  machine.replace(16, 4, "Z");
  return piece(R"(<time datetime="{}" title="{}">{}</time>)", machine, date_words(seconds), ago_words(seconds, now));
}

}  // namespace stackgate::html
