// What is logged about telemetry that does not arrive: one line a minute, however many batches are lost.
// Thread-safe.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "services/kit/telemetry/options.hpp"

namespace stackgate::telemetry {

class ThrottledLog {
 public:
  explicit ThrottledLog(std::chrono::milliseconds pause = std::chrono::minutes(1)) : pause_(pause) {}
  /// `lost` items of `signal`, and why.
  void lost(Signal signal, std::uint64_t lost, std::string_view why);
  /// Ends a series of complaints about that signal with one line.
  void arrived(Signal signal);

 private:
  const std::chrono::milliseconds pause_;
  std::mutex mutex_;
  std::optional<std::chrono::steady_clock::time_point> logged_;
  std::array<std::uint64_t, signals.size()> lost_{};  // since the last line about each
  std::array<bool, signals.size()> in_trouble_{};     // and the log knows
};

}  // namespace stackgate::telemetry
