// What dashboards read of evaluations. Thread-safe.
#pragma once
#include <chrono>
#include <string_view>

#include "services/evaluator/suite/task.hpp"
#include "services/kit/metrics/registry.hpp"

namespace stackgate::evaluator {

class RunMetrics {
 public:
  explicit RunMetrics(metrics::Registry& registry);
  void ended(std::string_view state, std::string_view framework, std::chrono::duration<double> whole);
  void begun() { running_.add(1); }
  void left() { running_.add(-1); }
  void samples(std::uint64_t scored, std::uint64_t failed);
  /// `outcome`: answered, away, refused, broken, stopped.
  void question(Whom whom, std::string_view outcome, std::chrono::duration<double> took);
  /// Tokens of answers, as endpoints count them.
  void tokens(Whom whom, std::uint64_t prompt, std::uint64_t completion);
  /// How long a stage of a run took.
  void stage(std::string_view name, std::chrono::duration<double> took);
  /// That a restart did not ask again.
  void known_answer() { known_.add(); }

 private:
  metrics::Family<metrics::Counter>& evaluations_;
  metrics::Gauge& running_;
  metrics::Family<metrics::Histogram>& seconds_;
  metrics::Family<metrics::Counter>& samples_;
  metrics::Family<metrics::Counter>& questions_;
  metrics::Family<metrics::Histogram>& question_seconds_;
  metrics::Counter& known_;
  metrics::Family<metrics::Counter>& tokens_;
  metrics::Family<metrics::Histogram>& stage_seconds_;
};

}  // namespace stackgate::evaluator
