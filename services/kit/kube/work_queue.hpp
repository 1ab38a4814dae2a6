// A keyed work queue for controllers: one key is never in the hands of two workers, and an addition is never lost.
//
//   while (auto work = queue.get()) {
//     reconcile(work->key) ? queue.forget(work->key) : queue.add_backing_off(work->key);
//     queue.done(work->key);
//   }
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "services/kit/kube/work_queue_core.hpp"

namespace stackgate::kube {

/// Thread-safe. What each call means is documented at WorkQueueCore, which decides; here are the lock and the waiting.
template <class Key, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
class WorkQueue {
  using Core = WorkQueueCore<Key, Hash, Equal>;

 public:
  using Taken = typename Core::Taken;

  explicit WorkQueue(const QueueLimits& limits = {}) : core_(limits, Jitter::random()) {}
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void add(const Key& key, Priority priority = Priority::normal) {
    const std::scoped_lock lock(mutex_);
    if (core_.add(key, priority, now())) ready_.notify_one();
  }
  void add_after(const Key& key, std::chrono::milliseconds delay, Priority priority = Priority::normal) {
    const std::scoped_lock lock(mutex_);
    delay_and_notify([&] { core_.add_after(key, delay, priority, now()); });
  }
  /// Returns the wait.
  std::chrono::milliseconds add_backing_off(const Key& key, Priority priority = Priority::normal) {
    const std::scoped_lock lock(mutex_);
    std::chrono::milliseconds wait{0};
    delay_and_notify([&] { wait = core_.add_backing_off(key, priority, now()); });
    return wait;
  }
  void forget(const Key& key) {
    const std::scoped_lock lock(mutex_);
    core_.forget(key);
  }

  /// Blocks until a key is ready; nothing after shut_down().
  std::optional<Taken> get() {
    std::unique_lock lock(mutex_);
    while (!core_.is_shut_down()) {
      if (auto taken = core_.take(now())) {
        // One waiting thread keeps the time for all: when it leaves with work, another takes its place.
        if (core_.any_ready() || (core_.next_due() && !time_is_kept_)) ready_.notify_one();
        return taken;
      }
      const auto due = core_.next_due();
      if (due && !time_is_kept_) {
        time_is_kept_ = true;
        ready_.wait_until(lock, *due);
        time_is_kept_ = false;
      } else {
        ready_.wait(lock);
      }
    }
    return std::nullopt;
  }
  void done(const Key& key) {
    const std::scoped_lock lock(mutex_);
    if (core_.done(key, now())) ready_.notify_one();
  }

  /// Returns at once: every get() answers nothing, what waits is let go, what is in work goes on.
  void shut_down() {
    const std::scoped_lock lock(mutex_);
    core_.shut_down();
    ready_.notify_all();
  }

  QueueNumbers numbers() const {
    const std::scoped_lock lock(mutex_);
    return core_.numbers(now());
  }

 private:
  static std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

  template <class Delay>
  void delay_and_notify(Delay&& delay) {
    const auto before = core_.next_due();
    delay();
    const auto after = core_.next_due();
    // Whoever keeps the time must learn of an earlier end; it cannot be told apart from the others.
    if (after && (!before || *after < *before)) ready_.notify_all();
    if (core_.any_ready()) ready_.notify_one();  // a delay of nothing
  }

  mutable std::mutex mutex_;
  std::condition_variable ready_;
  Core core_;
  bool time_is_kept_ = false;
};

}  // namespace stackgate::kube
