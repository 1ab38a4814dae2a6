// The end of a process as its exporters see it: until when they may still send. Thread-safe.
#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace stackgate::telemetry {

class ShutdownDeadline {
 public:
  using Clock = std::chrono::steady_clock;

  void begin(std::chrono::milliseconds limit) {
    {
      const std::lock_guard lock(mutex_);
      if (!until_) until_ = Clock::now() + limit;
    }
    wake_.notify_all();
  }
  bool begun() const {
    const std::lock_guard lock(mutex_);
    return until_.has_value();
  }
  bool over() const {
    const std::lock_guard lock(mutex_);
    return until_ && Clock::now() >= *until_;
  }
  /// Of `wanted`, what is left before the end.
  std::chrono::milliseconds at_most(std::chrono::milliseconds wanted) const {
    const std::lock_guard lock(mutex_);
    if (!until_) return wanted;
    return std::min(wanted, std::chrono::duration_cast<std::chrono::milliseconds>(*until_ - Clock::now()));
  }
  /// A stop cuts it short.
  void sleep_until(Clock::time_point time) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, time, [this] { return until_.has_value(); });
  }
  /// While stopping: no longer than the end.
  void sleep_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    if (until_) {
      const auto end = std::min(Clock::now() + time, *until_);
      wake_.wait_until(lock, end, [] { return false; });
    } else {
      wake_.wait_for(lock, time, [this] { return until_.has_value(); });
    }
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Clock::time_point> until_;
};

}  // namespace stackgate::telemetry
