// One attempt at an evaluation, from its row to its results. Blocks; one thread for each.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "services/evaluator/records/records.hpp"
#include "services/evaluator/retrieval/retriever.hpp"
#include "services/evaluator/runs/dataset.hpp"
#include "services/evaluator/runs/metrics.hpp"
#include "services/evaluator/workflow/run.hpp"
#include "services/kit/telemetry/telemetry.hpp"

namespace stackgate::evaluator {

/// Called at each write with its name; empty in production. Tests end the process there.
using FailPoint = std::function<void(std::string_view point)>;

struct RunOptions {
  OpenDatasets datasets{};  // empty: no datastore is configured
  WorkflowOptions workflow{};
  http_client::Pem authorities{};  // of endpoints of models, besides the system's
  RetrieverOptions retrieval{};    // directory and database; each evaluation says its index
  /// How long endpoint and datastore are waited for before the first question; and how long an endpoint that goes away
  /// later is, for each sample.
  std::chrono::milliseconds patience{24 * 3'600'000}, answer_patience{300'000};
  std::chrono::milliseconds pause{2'000};  // between two tries of what is away
  std::chrono::milliseconds save{1'000};   // between two partial results, at the least
  FailPoint fail{};
};

enum class RunEnd : std::uint8_t {
  ended,    // a final state, by this run or before it
  stopped,  // as `stop` wanted; it may go on later, here or elsewhere
  later,    // the workflow server is away: to be tried again
};

/// `stop` is asked a few times a second, on any thread; `cancelled`: whether it stopped because the evaluation is to be
/// cancelled, which this does then. What goes wrong costs the sample, or the evaluation, and stands in its message.
/// Its spans go on with the trace of the request that created it; `telemetry` nullptr: there are none.
RunEnd run_evaluation(Records& records, std::string_view id, const RunOptions& options, RunMetrics& metrics,
                      telemetry::Telemetry* telemetry, const std::function<bool()>& stop,
                      const std::function<bool()>& cancelled);

}  // namespace stackgate::evaluator
