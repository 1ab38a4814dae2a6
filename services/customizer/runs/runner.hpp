// Customizations on their way: one thread steps all of this replica's, when something of them has changed. Replicas
// share them by leases in the database. Thread-safe.
//
//   claimed ─▶ looked at ─▶ waits ──▶ looked at …: woken by a request or a report, by a change where it runs, by time
//                 │ settled: forgotten
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "services/customizer/records/records.hpp"
#include "services/customizer/runs/executor.hpp"
#include "services/customizer/runs/metrics.hpp"
#include "services/customizer/runs/stage_log.hpp"
#include "services/customizer/runs/stepper.hpp"
#include "services/kit/run/periodic.hpp"

namespace stackgate::customizer {

struct RunnerOptions {
  StepOptions step{};
  std::string owner{};             // of this replica's leases: the same after a restart, another one in each replica
  std::chrono::seconds lease{30};  // how long a replica that dies holds its customizations
  std::chrono::milliseconds round{1'000}, polled_round{200};
  std::chrono::milliseconds polled_look{2'000};  // where changes are polled for: of what waits, and of logs
  std::chrono::milliseconds log_look{10'000};    // elsewhere: of logs of what runs
};

class Runner {
 public:
  /// `records` and `metrics` must outlive it.
  Runner(Records& records, std::unique_ptr<Executor> executor, RunMetrics& metrics, RunnerOptions options);
  /// Steps from now on; once.
  void start();
  /// What is on its way goes on; another replica may step it.
  ~Runner();

  Records& records() { return records_; }
  const Records& records() const { return records_; }
  RunMetrics& metrics() { return metrics_; }
  /// Something has changed in the database: the next round begins now. Cheap.
  void wake();
  bool has_workspace(const Stored& stored) const;
  const Executor& executor() const { return *executor_; }
  /// Of one that has ended, and is to be deleted. The error: it cannot be now.
  std::expected<void, Error> clean_up(const Stored& stored);
  /// Tests: a round on the caller's thread, of one that was not started. Returns the pause until the next.
  std::chrono::milliseconds round();

 private:
  using Clock = std::chrono::steady_clock;
  struct Followed {
    Clock::time_point look{};  // again, at the latest
    StageLog log{};
    /// Of what runs: its log is read between looks, which cost much more.
    struct Reading {
      Work work{};
      Stage stage = Stage::download;
      Clock::time_point next{};
    };
    std::optional<Reading> reading{};
  };

  bool share();
  bool can_look();
  void show_why_they_wait();
  void forget(const std::string& id);
  void report_orphans();
  void take_changes();
  std::vector<std::string> due(Clock::time_point now) const;
  void look_at(const std::vector<std::string>& ids);
  void take_log(Work& work, const Seen& seen, Followed& followed);
  std::chrono::milliseconds log_look() const;
  void begin_reading(Followed& followed, const Work& work) const;
  void read_logs();
  void look_again(Followed& followed, const NextLook& next, Seconds now) const;

  Records& records_;
  const std::unique_ptr<Executor> executor_;
  RunMetrics& metrics_;
  const RunnerOptions options_;
  Stepper stepper_;
  std::map<std::string, Followed, std::less<>> followed_{};  // this replica's, by id
  Clock::time_point shared_at_{};
  bool has_shared_ = false, looks_for_orphans_ = true;
  std::string away_{};                     // why the executor is, as it was reported
  std::optional<run::Periodic> rounds_{};  // last: its thread uses the others
};

}  // namespace stackgate::customizer
