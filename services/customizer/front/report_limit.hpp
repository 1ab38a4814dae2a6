// How often a trainer may report: so many events a second for each customization and token, so that nobody's guesses
// slow the one who has the token. Thread-safe.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace stackgate::customizer {

class ReportLimit {
 public:
  explicit ReportLimit(std::uint32_t per_second = 50) : per_second_(per_second) {}

  bool allows(std::string_view id, std::string_view token,
              std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now()) {
    const std::int64_t second = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
    const std::scoped_lock lock(mutex_);
    // Who reported in an earlier second counts anew: nothing of them is needed.
    if (second != second_) counts_.clear();
    second_ = second;
    return ++counts_[{std::string(id), std::hash<std::string_view>{}(token)}] <= per_second_;
  }

 private:
  const std::uint32_t per_second_;
  std::mutex mutex_;
  std::int64_t second_ = 0;
  std::map<std::pair<std::string, std::size_t>, std::uint32_t> counts_{};  // by id and hash of the token
};

}  // namespace stackgate::customizer
