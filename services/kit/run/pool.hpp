// A bounded pool for work that waits (a call to the API server, a database, a child process), so that I/O threads never
// do. Thread-safe. A task that throws ends the process: tasks answer their own errors.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace stackgate::run {

class Pool {
 public:
  using Task = std::move_only_function<void()>;

  /// Threads start at once; at most `queued` tasks wait beside those that run.
  Pool(unsigned threads, std::size_t queued);
  /// Runs what is queued, then joins.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// False when the queue is full; `task` is then untouched and the caller still owns its promise to answer.
  [[nodiscard]] bool submit(Task&& task);
  struct Load {
    std::size_t running = 0, waiting = 0;
  };
  Load load() const;

 private:
  void work();

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> queue_;
  std::size_t running_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace stackgate::run
