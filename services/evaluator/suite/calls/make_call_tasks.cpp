#include "services/evaluator/suite/calls/make_call_tasks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/evaluator/suite/calls/call_row.hpp"
#include "services/evaluator/suite/calls/call_task.hpp"
#include "services/evaluator/suite/joined_rows.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::string_view answers_folder = "possible_answer/";

std::vector<std::string> files_of(std::string_view task, const std::vector<std::string>& paths,
                                  validate::Findings& findings) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    const std::string_view stem = rows_file_stem(path);
    if (stem.empty() || path.contains(answers_folder)) continue;
    if (task == to_string(Framework::bfcl) || ascii::equal_ignoring_case(stem, task) ||
        ascii::equal_ignoring_case(call_file(stem).category, task))
      out.push_back(path);
  }
  if (out.empty())
    findings.push_back(
        {.rule = "evaluation-data",
         .path = "dataset",
         .problem = fmt::format("has no file of the task {}", task),
         .fix = fmt::format("add BFCL_v3_{0}.json or {0}.jsonl with one JSON object in each line", task)});
  return out;
}

/// "data/BFCL_v3_simple.json": the file of the same name in a folder of answers.
const std::string* answers_of(std::string_view path, const std::vector<std::string>& paths) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto found = std::ranges::find_if(paths, [&](const std::string& each) {
    return each.contains(answers_folder) && std::string_view(each).substr(each.rfind('/') + 1) == name;
  });
  return found == paths.end() ? nullptr : &*found;
}

void join_answers(TaskRows& rows, const DataSource& source, RowFindings& wrong, validate::Findings& findings) {
  for (std::uint32_t file = 0; file < rows.files.size(); ++file) {
    const std::string* path = answers_of(rows.files[file], source.paths);
    if (path == nullptr) continue;
    const auto text = source.text(*path);
    if (!text) {
      findings.push_back(data_finding(*path, 0, text.error(), "give the data set a file that can be read"));
      continue;
    }
    const auto answers = rows_of(*path, *text, most_rows, findings);
    const Join join{.id = "id", .member = "ground_truth", .value = [](const json::Value& row) {
                      const json::Value* truth = row.find("ground_truth");
                      return truth == nullptr ? json::Value() : *truth;
                    }};
    join_rows(rows, file, *path, answers, join, wrong);
  }
}

/// What a row lacks; "": nothing.
std::string fault_of(const TaskRow& row, std::string_view category, bool answers_elsewhere) {
  json::Document document;
  const auto root = json::parse(row.text, document, {.max_depth = 64, .max_bytes = largest_row});
  if (!root) return "is no row";
  const auto read = read_call_row(*root, category);
  if (!read) return read.error();
  if (read->expects == CallRow::Expects::unknown && !answers_elsewhere)
    return R"(has neither "ground_truth" nor "tool_calls")";
  return {};
}

}  // namespace

std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> make_call_tasks(const EvaluationRequest& request,
                                                                                      const DataSource& source) {
  validate::Findings findings;
  std::vector<std::unique_ptr<Task>> out;
  const std::vector<std::string> paths = chosen_paths(request.dataset, source.paths);
  for (const std::string& task : request.tasks) {
    TaskRows rows =
        read_task_rows(files_of(task, paths, findings), source, request.limit.value_or(most_rows), findings);
    RowFindings wrong(rows, findings);
    join_answers(rows, source, wrong, findings);
    std::vector<std::string> categories;
    std::string version = "1";
    for (const std::string& path : rows.files) {
      const CallFile file = call_file(rows_file_stem(path));
      categories.emplace_back(file.category);
      if (!file.version.empty()) version = fmt::format("BFCL {}", file.version);
    }
    for (const TaskRow& row : rows.rows)
      if (std::string fault =
              fault_of(row, categories.at(row.file), answers_of(rows.files.at(row.file), source.paths) != nullptr);
          !fault.empty())
        wrong.add(row, std::move(fault), "write it as BFCL's files or OpenAI's tool_calls are written");
    out.push_back(
        std::make_unique<CallTask>(task, std::move(version), request, std::move(rows), std::move(categories)));
  }
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

}  // namespace stackgate::evaluator
