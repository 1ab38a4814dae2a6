// metric_list of a task file. Pure.
#pragma once
#include <optional>
#include <vector>

#include "services/evaluator/suite/harness/metrics.hpp"
#include "services/evaluator/suite/harness/task_files.hpp"

namespace stackgate::evaluator::harness {

/// Without any: those that an output type has by default.
std::vector<MetricConfig> read_metrics(const std::optional<Node>& list, OutputType output,
                                       validate::Findings& findings);

}  // namespace stackgate::evaluator::harness
