// Evaluations on their way: queued as jobs, worked on by this replica or another, swept up where a process ended in
// between. Thread-safe.
//
//   created ─ submit ─▶ pending ─ a worker of any replica ─▶ running ─▶ completed, failed, cancelled
//      ▲ a process that ended in between: swept                 └ its lease runs out: another worker goes on
#pragma once
#include <atomic>
#include <chrono>
#include <string>

#include "services/evaluator/records/records.hpp"
#include "services/evaluator/runs/run.hpp"
#include "services/kit/jobs/queue.hpp"
#include "services/kit/jobs/worker.hpp"
#include "services/kit/run/periodic.hpp"

namespace stackgate::evaluator {

struct RunnerOptions {
  RunOptions run{};
  unsigned evaluations = 4;        // at the same time in this process
  std::chrono::seconds lease{30};  // how long a replica that dies holds its evaluations
  std::chrono::milliseconds sweep{5'000};
};

class Runner {
 public:
  /// `database` must outlive it, like `metrics`.
  Runner(sql::Database& database, RunnerOptions options, RunMetrics& metrics);
  /// Evaluations under way are stopped, and go on in another replica or at the next start.
  ~Runner() = default;

  Records& records() { return records_; }
  /// One that was created: queued. An error leaves it to the sweep.
  sql::Expected<void> submit(const std::string& id);
  /// One that is not in a final state: ends it, at once where nobody works on it.
  sql::Expected<void> cancel(const Evaluation& evaluation);

 private:
  jobs::Outcome work(jobs::Attempt& attempt);
  void sweep();
  void sweep_state(State state);

  Records records_;
  const RunnerOptions options_;
  RunMetrics& metrics_;
  jobs::Queue queue_;
  jobs::Worker worker_;  // these two last: their threads use the others
  run::Periodic sweeping_;
};

}  // namespace stackgate::evaluator
