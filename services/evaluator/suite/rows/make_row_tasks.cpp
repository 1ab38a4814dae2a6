#include "services/evaluator/suite/rows/make_row_tasks.hpp"

#include "services/evaluator/suite/rows/row_task.hpp"

namespace stackgate::evaluator {

std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> make_row_tasks(const EvaluationRequest& request,
                                                                                     const DataSource& source) {
  validate::Findings findings;
  std::vector<std::unique_ptr<Task>> out;
  auto planned = make_row_plan(request, findings);
  std::shared_ptr<const RowPlan> plan;
  if (planned) plan = std::make_shared<const RowPlan>(std::move(*planned));
  const std::vector<std::string> paths = chosen_paths(request.dataset, source.paths);
  for (const std::string& task : request.tasks) {
    TaskRows rows = read_task_rows(files_of_task(task, request.tasks.size() == 1, paths, findings), source,
                                   request.limit.value_or(most_rows), findings);
    if (!plan) continue;
    RowFindings wrong(rows, findings);
    for (const TaskRow& row : rows.rows)
      if (const auto fits = RowTask::check(*plan, row); !fits)
        wrong.add(row, fits.error(), "add what it names to the row, or change the template");
    out.push_back(std::make_unique<RowTask>(task, plan, std::move(rows)));
  }
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

}  // namespace stackgate::evaluator
