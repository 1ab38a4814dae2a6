#include "services/evaluator/suite/code/make_code_tasks.hpp"

#include <fmt/format.h>

#include "services/evaluator/suite/code/code_task.hpp"
#include "services/evaluator/suite/code/problem.hpp"
#include "services/evaluator/suite/task_rows.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {

std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> make_code_tasks(const EvaluationRequest& request,
                                                                                      const DataSource& source) {
  validate::Findings findings;
  std::vector<std::unique_ptr<Task>> out;
  for (std::size_t i = 0; i < request.code.ks.size(); ++i)
    if (const std::uint32_t k = request.code.ks[i]; k == 0 || k > request.code.programs)
      findings.push_back({.rule = "evaluation-value",
                          .path = fmt::format("params.ks[{}]", i),
                          .problem = fmt::format("pass@{} cannot be computed of {} programs", k, request.code.programs),
                          .fix = fmt::format("write 1 to {}, or ask for more programs", request.code.programs)});
  const std::vector<std::string> paths = chosen_paths(request.dataset, source.paths);
  for (const std::string& task : request.tasks) {
    TaskRows rows = read_task_rows(files_of_task(task, request.tasks.size() == 1, paths, findings), source,
                                   request.limit.value_or(most_rows), findings);
    RowFindings wrong(rows, findings);
    json::Document document;
    for (const TaskRow& row : rows.rows) {
      const auto root = json::parse(row.text, document, {.max_depth = 64, .max_bytes = largest_row});
      const auto read = root ? read_problem(*root) : std::unexpected("is no row");
      if (!read) wrong.add(row, read.error(), "write it as HumanEval's or MBPP's rows are written");
    }
    out.push_back(std::make_unique<CodeTask>(task, request, std::move(rows)));
  }
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

}  // namespace stackgate::evaluator
