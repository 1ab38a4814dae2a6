// The tasks of mt-bench and agentic-eval. Pure.
#pragma once
#include <expected>
#include <memory>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/data_source.hpp"
#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// Questions are in question.jsonl or a file named after the task; references in its rows or below reference_answer/;
/// the other side of pairs in params.baseline.
std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> make_mt_bench_tasks(
    const EvaluationRequest& request, const DataSource& source);

/// A task for each metric that is named (agent_goal_accuracy, tool_call_accuracy, topic_adherence); for "agentic-eval"
/// those that the first row has what they need for.
std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> make_agent_tasks(const EvaluationRequest& request,
                                                                                       const DataSource& source);

}  // namespace stackgate::evaluator
