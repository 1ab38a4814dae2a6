// One thread's event loop over epoll (level-triggered): descriptors, deadlines, and tasks from other threads.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "services/kit/base/error.hpp"

namespace stackgate::http {

class Loop;

/// Something with a descriptor or a deadline. A watcher that goes away calls Loop::remove() and leaves its destruction
/// to Loop::bury(): events of the running round may still name it (and must find it doing nothing).
class Watcher {
 public:
  using Clock = std::chrono::steady_clock;
  virtual void on_event(std::uint32_t epoll_events) = 0;
  virtual void on_deadline() = 0;

 protected:
  Watcher() = default;
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  virtual ~Watcher() = default;

 private:
  friend class Loop;
  // The deadline may move later without touching the queue: it is looked at when the queued time has come.
  Clock::time_point deadline_ = Clock::time_point::max();
  std::multimap<Clock::time_point, Watcher*>::iterator queued_;
  bool is_queued_ = false;
};

class Loop {
 public:
  using Clock = Watcher::Clock;
  static std::expected<std::unique_ptr<Loop>, Error> make();
  ~Loop();

  /// Runs on the calling thread until stop().
  void run();

  // From any thread.
  /// Runs the task on the loop's thread; after stop() it is destroyed without running.
  void post(std::move_only_function<void()> task);
  void stop();
  bool on_this_thread() const;
  /// No more events of the descriptor, except those of the running round; add() makes them come again.
  void forget(int fd);

  // From the loop's thread (or before run()).
  /// The time at which this round began.
  Clock::time_point now() const { return now_; }
  /// False when the kernel refuses.
  bool add(int fd, std::uint32_t epoll_events, Watcher& watcher);
  void change(int fd, std::uint32_t epoll_events, Watcher& watcher);
  /// Call before close(fd).
  void remove(int fd, Watcher& watcher);
  void set_deadline(Watcher& watcher, Clock::time_point at);
  void clear_deadline(Watcher& watcher) { watcher.deadline_ = Clock::time_point::max(); }
  /// Keeps the object until the round is over.
  void bury(std::shared_ptr<void> dead) { graveyard_.push_back(std::move(dead)); }
  void end_round() { graveyard_.clear(); }

 private:
  Loop() = default;
  int wait_ms() const;
  void run_tasks();
  void run_deadlines();
  void unqueue(Watcher& watcher);

  int epoll_ = -1, wake_ = -1;
  Clock::time_point now_ = Clock::now();
  std::multimap<Clock::time_point, Watcher*> queue_;
  std::vector<std::shared_ptr<void>> graveyard_;
  std::mutex mutex_;
  std::vector<std::move_only_function<void()>> tasks_;
  bool stopped_ = false;
  std::atomic<const void*> thread_{nullptr};
};

}  // namespace stackgate::http
