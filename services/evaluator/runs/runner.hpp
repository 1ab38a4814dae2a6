// Evaluations on their way: queued as jobs, worked on by this replica or another, swept up where a process ended in
// between. Thread-safe.
//
//   created ─ submit ─▶ pending ─ a worker of any replica ─▶ running ─▶ completed, failed, cancelled
//      ▲ a process that ended in between: swept                 └ its lease runs out: another worker goes on
#pragma once
#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "services/evaluator/records/records.hpp"
#include "services/evaluator/runs/run.hpp"
#include "services/kit/jobs/queue.hpp"
#include "services/kit/jobs/worker.hpp"
#include "services/kit/run/periodic.hpp"
#include "services/kit/telemetry/telemetry.hpp"

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
  /// Works from now on; once. Spans go to `telemetry`, which must outlive it; nullptr: nowhere.
  void start(telemetry::Telemetry* telemetry);
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
  void drop_unused_collections();
  void forget();

  sql::Database& database_;
  Records records_;
  const RunnerOptions options_;
  RunMetrics& metrics_;
  telemetry::Telemetry* telemetry_ = nullptr;
  jobs::Queue queue_;
  std::atomic<bool> started_ = false;
  std::atomic<bool> forgets_ = true;      // also what a process left that ended before it forgot
  std::optional<jobs::Worker> worker_{};  // these two last: their threads use the others
  std::optional<run::Periodic> sweeping_{};
};

}  // namespace stackgate::evaluator
