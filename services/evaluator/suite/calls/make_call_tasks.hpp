// The tasks of bfcl. Pure.
#pragma once
#include <expected>
#include <memory>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/data_source.hpp"
#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// A task named "bfcl" has all files, any other those of its category ("parallel", "BFCL_v3_parallel") or name. Answers
/// are in the rows, or below possible_answer/ in a file of the same name.
std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> make_call_tasks(const EvaluationRequest& request,
                                                                                      const DataSource& source);

}  // namespace stackgate::evaluator
