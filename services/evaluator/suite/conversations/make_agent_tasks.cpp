#include <fmt/format.h>

#include "services/evaluator/suite/conversations/agent_task.hpp"
#include "services/evaluator/suite/conversations/make_conversation_tasks.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace {

constexpr json::ParseLimits agent_row_limits{.max_depth = 64, .max_bytes = largest_row};

/// Of "agentic-eval": what the first row has everything for.
std::vector<AgentMetric> metrics_of_rows(const TaskRows& rows) {
  std::vector<AgentMetric> out;
  json::Document document;
  if (rows.rows.empty()) return out;
  const auto first = json::parse(rows.rows.front().text, document, agent_row_limits);
  for (const AgentMetric each :
       {AgentMetric::goal_accuracy, AgentMetric::tool_call_accuracy, AgentMetric::topic_adherence})
    if (first && fits_agent_metric(each, *first)) out.push_back(each);
  // Rows that say what else is expected are not about goals, unless they say that, too.
  if (out.size() > 1 && out.front() == AgentMetric::goal_accuracy && first->find("reference") == nullptr)
    out.erase(out.begin());
  return out.empty() ? std::vector{AgentMetric::goal_accuracy} : out;
}

validate::Finding no_judge() {
  return {.rule = "evaluation-value",
          .path = "judge",
          .problem = "is missing",
          .fix = "write the model_endpoint and model that judge"};
}

}  // namespace

std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> make_agent_tasks(const EvaluationRequest& request,
                                                                                       const DataSource& source) {
  validate::Findings findings;
  std::vector<std::unique_ptr<Task>> out;
  for (std::size_t i = 0; i < request.tasks.size(); ++i) {
    const std::string& task = request.tasks[i];
    const auto metric = agent_metric_named(task);
    if (!metric && task != to_string(Framework::agentic_eval)) {
      findings.push_back({.rule = "evaluation-task",
                          .path = fmt::format("tasks[{}]", i),
                          .problem = fmt::format("there is no task \"{}\" of agentic-eval", task),
                          .fix = fmt::format("choose from {}", fmt::join(agent_metric_names, ", "))});
      continue;
    }
    // Every metric may be computed of the same rows.
    const auto rows = std::make_shared<const TaskRows>(
        read_task_rows(files_of_task(task, true, chosen_paths(request.dataset, source.paths), findings), source,
                       request.limit.value_or(most_rows), findings));
    RowFindings wrong(*rows, findings);
    json::Document document;
    const auto metrics = metric ? std::vector{*metric} : metrics_of_rows(*rows);
    for (const AgentMetric each : metrics) {
      if (each != AgentMetric::tool_call_accuracy && !request.judge) findings.push_back(no_judge());
      for (const TaskRow& row : rows->rows) {
        const auto root = json::parse(row.text, document, agent_row_limits);
        if (const auto fits = root ? fits_agent_metric(each, *root) : std::unexpected("is no row"); !fits)
          wrong.add(row, fits.error(), "write the row as ragas has it, or leave the metric out");
      }
      std::string name(agent_metric_names.at(static_cast<std::size_t>(each)));
      out.push_back(std::make_unique<AgentTask>(std::move(name), each, request, rows));
    }
  }
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

}  // namespace stackgate::evaluator
