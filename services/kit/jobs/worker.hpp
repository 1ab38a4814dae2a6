// Threads that claim jobs of one kind, keep their leases and put down what came of them.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "services/kit/jobs/queue.hpp"
#include "services/kit/run/periodic.hpp"

namespace stackgate::jobs {

/// What became of one attempt.
struct Outcome {
  enum class Kind : std::uint8_t { succeeded, failed, again };  // again: later, unless its attempts are used up
  Kind kind = Kind::succeeded;
  std::string result;  // JSON
  std::chrono::seconds pause{0};
};

/// A job under way, for its handler. Thread-safe.
class Attempt {
 public:
  Attempt(Queue& queue, Job job, std::stop_token stop) : job_(std::move(job)), queue_(queue), stop_(std::move(stop)) {}
  const Job& job() const { return job_; }
  /// Time to stop: cancelled by a client, taken over by another replica, or this process ends.
  bool stop_requested() const { return cancelled_ || lost_ || stop_.stop_requested(); }
  bool cancelled() const { return cancelled_; }
  /// Shown to clients while the job runs. A database that is away is no fault of the job's.
  void note_progress(std::string_view result) { (void)queue_.note_progress(job_.id, result); }

 private:
  friend class Worker;
  const Job job_;
  Queue& queue_;
  const std::stop_token stop_;
  std::atomic<bool> cancelled_ = false, lost_ = false;
};

struct WorkerOptions {
  std::string kind;
  unsigned threads = 1;
  std::int64_t attempts = 5;  // counting those that ended with their process
  std::chrono::milliseconds look{1'000};
  std::chrono::milliseconds heartbeat{5'000};  // a third of the queue's lease, or less
};

class Worker {
 public:
  /// Runs on a worker's thread; looks at stop_requested() often. What it throws is a failure with that message.
  using Handler = std::function<Outcome(Attempt&)>;

  /// `queue` must outlive it.
  Worker(Queue& queue, WorkerOptions options, Handler handler);
  /// Asks the handlers to stop and waits for them; their jobs are put back for another replica.
  ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Something was enqueued here.
  void wake();

 private:
  /// False: there was nothing to do.
  bool work(const std::stop_token& stop);
  Outcome handle(Attempt& attempt);
  void conclude(const Attempt& attempt, const Outcome& outcome);

  Queue& queue_;
  const WorkerOptions options_;
  const Handler handler_;
  std::vector<std::unique_ptr<run::Periodic>> threads_;  // last: they use the others
};

}  // namespace stackgate::jobs
