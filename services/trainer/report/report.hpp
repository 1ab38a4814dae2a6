// Reports how far a run is: a JSON object a line on standard output, a bar on a terminal, the same objects to a
// progress URL, and what of them is of use to an experiment tracker or a collector. Nothing here delays a step or ends
// a run. For one thread.
#pragma once
#include <memory>
#include <string>

#include "services/kit/metrics/registry.hpp"
#include "services/kit/telemetry/work.hpp"
#include "services/trainer/report/events.hpp"
#include "services/trainer/report/poster.hpp"
#include "services/trainer/report/tracking.hpp"

namespace stackgate::trainer {

struct ReportSettings {
  std::string job{};           // "job_id" of all objects
  std::string url{}, token{};  // empty: nobody else is told
  std::string ca_file{};
  std::optional<TrackingSettings> tracking{};  // absent: no experiment tracker
  bool errors_alone = false;                   // of several processes, one tells how far they are
};

class Report {
 public:
  /// `work`: where spans of the run go; `registry` gets its gauges. Both must outlive it, where they are there.
  explicit Report(ReportSettings settings, telemetry::Work* work = nullptr, metrics::Registry* registry = nullptr);
  /// Waits some seconds for what is still to be sent.
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// A tracker records runs that come with facts.
  void start(const Started& event, const std::optional<RunFacts>& facts = {});
  void step(const Stepped& event);
  void validation(std::uint64_t step, double loss);
  void checkpoint(std::uint64_t step, const std::string& path);
  void done(const Finished& event);
  void error(const Failed& event);
  /// The last: how the run has ended, for a tracker. Waits some seconds for what is still to be sent.
  void end(mlflow::Status status);

  /// For spans of the run's parts.
  telemetry::Work& work() { return *work_; }

 private:
  void publish(std::string text);
  void send(std::string text);

  const ReportSettings settings_;
  const bool terminal_;
  bool bar_shown_ = false;
  telemetry::Work no_work_;
  telemetry::Work* const work_;
  metrics::Gauge *loss_ = nullptr, *tokens_per_second_ = nullptr;
  std::unique_ptr<Poster> poster_;
  std::optional<Tracking> tracking_;
};

}  // namespace stackgate::trainer
