// The tasks of an evaluation, whichever its framework: where suites are plugged in.
#pragma once
#include <expected>
#include <memory>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/data_source.hpp"
#include "services/evaluator/suite/task.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::evaluator {

using Tasks = std::vector<std::unique_ptr<Task>>;

/// Reads what it needs of the data set and holds its rows against the task; every fault at once. Of beginnings of files
/// it makes tasks of their rows. What does not stop it is added to `warnings`, where there are any.
std::expected<Tasks, validate::Findings> make_tasks(const EvaluationRequest& request, const DataSource& data,
                                                    validate::Findings* warnings = nullptr);

}  // namespace stackgate::evaluator
