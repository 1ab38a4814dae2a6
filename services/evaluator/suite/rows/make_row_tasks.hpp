// The tasks of similarity-metrics and llm-as-judge. Pure.
#pragma once
#include <expected>
#include <memory>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/data_source.hpp"
#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// Every fault at once: of the request's templates, patterns, metrics and checks, and of rows that lack what a template
/// names.
std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> make_row_tasks(const EvaluationRequest& request,
                                                                                     const DataSource& source);

}  // namespace stackgate::evaluator
