#include <algorithm>

#include "services/evaluator/suite/conversations/make_conversation_tasks.hpp"
#include "services/evaluator/suite/conversations/mt_bench_task.hpp"
#include "services/evaluator/suite/joined_rows.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace {

bool is_in(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) || path.contains("/" + std::string(folder));
}

/// Files of questions: no answers, no baseline.
std::vector<std::string> question_files(const EvaluationRequest& request, const DataSource& source) {
  std::vector<std::string> all, named;
  for (const std::string& path : chosen_paths(request.dataset, source.paths)) {
    if (is_in(path, "reference_answer/") || is_in(path, "model_answer/") || path == request.mt_bench.baseline) continue;
    all.push_back(path);
    if (rows_file_stem(path) == "question") named.push_back(path);
  }
  return named.empty() ? all : named;
}

/// Gives every row what a file of answers has for it.
void join_answers_of(TaskRows& rows, const DataSource& source, std::string_view path, std::string_view member,
                     RowFindings& wrong, validate::Findings& findings) {
  const auto text = source.text(path);
  if (!text) {
    findings.push_back(data_finding(path, 0, text.error(), "name a file of answers of the data set"));
    return;
  }
  const auto answers = rows_of(path, *text, most_rows, findings);
  const Join join{.id = "question_id", .member = member, .value = answered_turns};
  for (std::uint32_t file = 0; file < rows.files.size(); ++file) join_rows(rows, file, path, answers, join, wrong);
}

}  // namespace

std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> make_mt_bench_tasks(
    const EvaluationRequest& request, const DataSource& source) {
  validate::Findings findings;
  std::vector<std::unique_ptr<Task>> out;
  if (!request.judge)
    findings.push_back({.rule = "evaluation-value",
                        .path = "judge",
                        .problem = "is missing",
                        .fix = "write the model_endpoint and model that judge"});
  const std::vector<std::string> questions = question_files(request, source);
  for (const std::string& task : request.tasks) {
    TaskRows rows = read_task_rows(files_of_task(task, request.tasks.size() == 1, questions, findings), source,
                                   request.limit.value_or(most_rows), findings);
    RowFindings wrong(rows, findings);
    // References are for some categories alone, so a row without one is no fault.
    validate::Findings ignored;
    RowFindings no_reference(rows, ignored);
    for (const std::string& path : source.paths)
      if (is_in(path, "reference_answer/") && !rows_file_stem(path).empty())
        join_answers_of(rows, source, path, reference_member, no_reference, findings);
    if (!request.mt_bench.baseline.empty())
      join_answers_of(rows, source, request.mt_bench.baseline, baseline_member, wrong, findings);
    json::Document document;
    for (const TaskRow& row : rows.rows) {
      const auto root = json::parse(row.text, document, {.max_depth = 64, .max_bytes = largest_row});
      const auto read = root ? read_mt_bench_row(*root) : std::unexpected("is no row");
      if (!read)
        wrong.add(row, read.error(), R"(write {"question_id": 81, "category": "writing", "turns": ["…", "…"]})");
    }
    out.push_back(std::make_unique<MtBenchTask>(task, request, std::move(rows)));
  }
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

}  // namespace stackgate::evaluator
