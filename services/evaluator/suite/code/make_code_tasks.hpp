// The tasks of bigcode-eval-harness that are computed here. Pure.
#pragma once
#include <expected>
#include <memory>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/data_source.hpp"
#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// Problems are in a file named after the task ("humaneval": HumanEval.jsonl), or in all files of a single task.
std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> make_code_tasks(const EvaluationRequest& request,
                                                                                      const DataSource& source);

}  // namespace stackgate::evaluator
