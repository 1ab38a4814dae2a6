// How often a trainer may report: so many events a second for each customization. Thread-safe.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace stackgate::customizer {

class ReportLimit {
 public:
  explicit ReportLimit(std::uint32_t per_second = 50) : per_second_(per_second) {}

  bool allows(std::string_view id, std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now()) {
    const std::int64_t second = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
    const std::scoped_lock lock(mutex_);
    // Who reported in an earlier second counts anew: nothing of them is needed.
    if (second != second_) counts_.clear();
    second_ = second;
    const auto found = counts_.find(id);
    if (found == counts_.end()) return counts_.emplace(id, 1).second;
    return ++found->second <= per_second_;
  }

 private:
  const std::uint32_t per_second_;
  std::mutex mutex_;
  std::int64_t second_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> counts_{};
};

}  // namespace stackgate::customizer
