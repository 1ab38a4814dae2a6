#include <array>
#include <chrono>
#include <ctime>

#include <fmt/format.h>

#include "services/entitystore/adapters/record.hpp"

namespace stackgate::entitystore {

std::string timestamp() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(now - std::chrono::system_clock::from_time_t(seconds))
          .count();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  return fmt::format("{}.{:03d}Z", std::string_view(text.data(), size), millis < 0 ? 0 : millis);
}

}  // namespace stackgate::entitystore
