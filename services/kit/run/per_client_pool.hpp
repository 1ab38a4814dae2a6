// A bounded pool with a share for each client: for work that lasts as long as its client likes (uploads, downloads), so
// that no client can take every thread. Thread-safe.
//
//   submit ─→ a thread and a place in the share are free: runs at once
//          └→ waits its turn, until `patience` is over ─→ refused
//
// A job whose share is used up is passed by those behind it. Threads are started when they are needed and stay.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "services/kit/run/pool.hpp"

namespace stackgate::run {

class PerClientPool {
 public:
  /// Called once, on a thread of the pool: to do the work, or (`runs` is false) to refuse it. Must not throw.
  using Job = std::move_only_function<void(bool runs)>;
  struct Limits {
    unsigned threads = 1;    // jobs that run at the same time
    unsigned per_share = 1;  // of them those of one share
    std::size_t waiting = 1024;
    std::size_t waiting_per_share = 128;
    std::chrono::milliseconds patience{5'000};
  };
  using Load = Pool::Load;

  explicit PerClientPool(const Limits& limits);
  /// Refuses what waits, then waits for what runs.
  ~PerClientPool();
  PerClientPool(const PerClientPool&) = delete;
  PerClientPool& operator=(const PerClientPool&) = delete;

  /// `share`: whose it is. Gives the job back when too many wait already, or too many of this share; else empty.
  [[nodiscard]] Job submit(const std::string& share, Job job);
  Load load() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    std::string share;
    Job job;
    Clock::time_point until;
  };
  struct Share {
    std::size_t running = 0, waiting = 0;
  };
  std::list<Waiting>::iterator next_to_run();
  Waiting take(std::list<Waiting>::iterator place);
  void forget_if_unused(const std::string& share);
  void work();
  void watch_the_clock();

  const Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable wake_, tick_;
  std::list<Waiting> waiting_;                     // in the order of their coming
  std::unordered_map<std::string, Share> shares_;  // those that have a job
  std::size_t running_ = 0, idle_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
  std::jthread clock_;  // last: begins when the rest is there
};

}  // namespace stackgate::run
