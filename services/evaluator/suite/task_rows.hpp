// Which rows of a data set a task reads, and where the fault of one stands. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/data_source.hpp"

namespace stackgate::evaluator {

struct TaskRow {
  std::string text{};      // a JSON object in one line
  std::uint32_t file = 0;  // index into TaskRows::files
  std::uint32_t line = 0;
};
struct TaskRows {
  std::vector<std::string> files{};
  std::vector<TaskRow> rows{};
};

/// Those that the request chooses: the file, or what is below the folder; all where it has no path.
std::vector<std::string> chosen_paths(const DatasetSource& chosen, std::span<const std::string> paths);

/// "data/HumanEval.jsonl": "HumanEval". Of a file with rows ("….jsonl", "….ndjson", "….json"); else "".
std::string_view rows_file_stem(std::string_view path);

/// The files of rows that are named after the task, in any folder, in capitals or not; where there is none and the
/// evaluation has this task alone, all files of rows. None at all is a finding.
std::vector<std::string> files_of_task(std::string_view task, bool is_only_task, std::span<const std::string> paths,
                                       validate::Findings& findings);

/// The rows of these files one behind the other, at most `limit`.
TaskRows read_task_rows(std::vector<std::string> files, const DataSource& source, std::size_t limit,
                        validate::Findings& findings);

/// The first faults of each file, at "<path>:<line>".
class RowFindings {
 public:
  static constexpr std::size_t most = 20;  // of a file
  RowFindings(const TaskRows& rows, validate::Findings& findings) : rows_(rows), findings_(findings) {}
  void add(const TaskRow& row, std::string problem, std::string fix);
  /// Whether there were any, shown or not.
  bool any() const { return !counts_.empty(); }

 private:
  const TaskRows& rows_;
  validate::Findings& findings_;
  std::map<std::uint32_t, std::size_t> counts_{};
};

}  // namespace stackgate::evaluator
