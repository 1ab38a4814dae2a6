#include "services/evaluator/suite/task_rows.hpp"

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"

namespace stackgate::evaluator {

std::vector<std::string> chosen_paths(const DatasetSource& chosen, std::span<const std::string> paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths)
    if (chosen.path.empty() || path == chosen.path || path.starts_with(chosen.path + "/")) out.push_back(path);
  return out;
}

std::string_view rows_file_stem(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  for (const std::string_view end : {".jsonl", ".ndjson", ".json"})
    if (path.size() > end.size() && path.ends_with(end)) return path.substr(0, path.size() - end.size());
  return {};
}

std::vector<std::string> files_of_task(std::string_view task, bool is_only_task, std::span<const std::string> paths,
                                       validate::Findings& findings) {
  std::vector<std::string> named, all;
  for (const std::string& path : paths) {
    const std::string_view stem = rows_file_stem(path);
    if (stem.empty()) continue;
    all.push_back(path);
    if (ascii::equal_ignoring_case(stem, task)) named.push_back(path);
  }
  if (!named.empty()) return named;
  if (is_only_task && !all.empty()) return all;
  findings.push_back({.rule = "evaluation-data",
                      .path = "dataset",
                      .problem = all.empty() ? "has no file of rows" : fmt::format("has no file of the task {}", task),
                      .fix = fmt::format("add {}.jsonl with one JSON object in each line", task)});
  return {};
}

TaskRows read_task_rows(std::vector<std::string> files, const DataSource& source, std::size_t limit,
                        validate::Findings& findings) {
  TaskRows out{.files = std::move(files)};
  for (std::uint32_t file = 0; file < out.files.size() && out.rows.size() < limit; ++file) {
    const std::string& path = out.files[file];
    const auto text = source.text(path);
    if (!text) {
      findings.push_back(data_finding(path, 0, text.error(), "name a file of the data set that can be read"));
      continue;
    }
    for (DataRow& row : rows_of(path, *text, limit - out.rows.size(), findings))
      out.rows.push_back({.text = std::move(row.text), .file = file, .line = row.line});
  }
  return out;
}

void RowFindings::add(const TaskRow& row, std::string problem, std::string fix) {
  if (counts_[row.file]++ < most)
    findings_.push_back(data_finding(rows_.files.at(row.file), row.line, std::move(problem), std::move(fix)));
}

}  // namespace stackgate::evaluator
