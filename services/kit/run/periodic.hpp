// Work that is done again and again on a thread of its own: sweeps, refreshes, heartbeats.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace stackgate::run {

class Periodic {
 public:
  /// One round; returns how long to wait for the next one. Long rounds look at the token, which is set when the end has
  /// begun. Must not throw.
  using Round = std::function<std::chrono::milliseconds(const std::stop_token& stop)>;

  /// The first round begins after `first`.
  Periodic(std::chrono::milliseconds first, Round round);
  /// Waits for the round under way; no other follows.
  ~Periodic() = default;
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;

  /// No other round begins. Does not wait for the one under way. Any thread.
  void stop() { thread_.request_stop(); }
  /// The next round begins now, or right after the one under way. Any thread.
  void wake();

 private:
  void run(std::chrono::milliseconds first, const std::stop_token& stop);

  const Round round_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool woken_ = false;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace stackgate::run
