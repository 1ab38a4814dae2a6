#include "services/kit/telemetry/throttled_log.hpp"

#include <utility>

#include "services/kit/log/log.hpp"

namespace stackgate::telemetry {

void ThrottledLog::lost(Signal signal, std::uint64_t lost, std::string_view why) {
  const auto at = static_cast<std::size_t>(signal);
  std::uint64_t sum = 0;
  {
    const std::lock_guard lock(mutex_);
    lost_[at] += lost;
    const auto now = std::chrono::steady_clock::now();
    if (logged_ && now - *logged_ < pause_) return;
    logged_ = now;
    in_trouble_[at] = true;
    sum = std::exchange(lost_[at], 0);
  }
  log::warning("telemetry does not arrive", {{"signal", to_string(signal)}, {"lost", sum}, {"error", why}});
}

void ThrottledLog::arrived(Signal signal) {
  const auto at = static_cast<std::size_t>(signal);
  std::uint64_t sum = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(in_trouble_[at], false)) return;
    sum = std::exchange(lost_[at], 0);
  }
  log::info("telemetry arrives again", {{"signal", to_string(signal)}, {"lost", sum}});
}

}  // namespace stackgate::telemetry
