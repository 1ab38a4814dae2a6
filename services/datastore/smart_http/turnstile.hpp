// So many at a time; others wait, for a while. Thread-safe.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace stackgate::datastore::smart_http {

class Turnstile {
 public:
  explicit Turnstile(unsigned places) : free_(places) {}
  Turnstile(const Turnstile&) = delete;
  Turnstile& operator=(const Turnstile&) = delete;

  /// A place, given back at its end.
  class Place {
   public:
    explicit Place(Turnstile& of) : of_(&of) {}
    Place(Place&& other) noexcept : of_(other.of_) { other.of_ = nullptr; }
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (of_ != nullptr) of_->leave();
    }

   private:
    Turnstile* of_;
  };

  /// Nothing when none became free in time.
  std::optional<Place> enter(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    if (!freed_.wait_for(lock, limit, [this] { return free_ > 0; })) return std::nullopt;
    --free_;
    return std::optional<Place>(std::in_place, *this);
  }

 private:
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      ++free_;
    }
    freed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable freed_;
  unsigned free_;
};

}  // namespace stackgate::datastore::smart_http
