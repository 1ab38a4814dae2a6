// Tasks that this service computes itself: data set, questions, scores.
#pragma once
#include <string>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/runs/journal.hpp"
#include "services/evaluator/runs/run.hpp"
#include "services/evaluator/suite/make_tasks.hpp"
#include "services/kit/telemetry/work.hpp"

namespace stackgate::evaluator {

/// What became of it: `results` of a final state, or `stopped`.
struct Conclusion {
  bool stopped = false;
  State state = State::completed;
  std::string message{}, results{};
};

struct RunContext {
  const Evaluation& evaluation;
  EvaluationRequest request;  // with keys
  const RunOptions& options;
  RunMetrics& metrics;
  RunJournal& journal;
  telemetry::Work& work;
  bool is_first;  // nothing was asked before
  const std::function<bool()>& cancelled;
};

Conclusion run_native(RunContext& context);
Conclusion run_as_workflow(RunContext& context, bool& later);

}  // namespace stackgate::evaluator
