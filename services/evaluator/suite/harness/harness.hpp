// lm-evaluation-harness' tasks over a data set of the user's own, without Python. See README.md.
#pragma once
#include <expected>
#include <memory>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/data_source.hpp"
#include "services/evaluator/suite/task.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::evaluator {

/// The tasks that `request.tasks` names: of task files, groups and tags. Every row that is asked is rendered once to
/// see that it can be. What does not stop it is added to `warnings`, where there are any.
std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> make_harness_tasks(
    const EvaluationRequest& request, const DataSource& data, validate::Findings* warnings = nullptr);

}  // namespace stackgate::evaluator
