// Which files of a data set are a task's splits, and their rows. Pure.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "services/evaluator/suite/data_source.hpp"
#include "services/evaluator/suite/harness/config.hpp"

namespace stackgate::evaluator::harness {

struct Split {
  std::vector<DataRow> rows{};
  std::vector<std::pair<std::size_t, std::string>> files{};  // with the place of the first row of each

  /// "data/test.jsonl:12".
  std::string place(std::size_t row) const;
};
using SplitPtr = std::shared_ptr<const Split>;

/// Reads each file once for all tasks. Not thread-safe.
class Splits {
 public:
  explicit Splits(const DataSource& data) : data_(data) {}

  /// Files that data_files names, or those that the split's name finds: <split>.jsonl, data/<split>-00000.jsonl,
  /// <dataset_name>/<split>.jsonl, beside the task file or from the top of the data set. At most `limit` rows. nullptr,
  /// and findings: there are none. `asked_by`: the place of what names the split.
  SplitPtr read(const TaskConfig& task, const std::string& split, std::size_t limit, const std::string& asked_by,
                validate::Findings& findings);

 private:
  std::vector<std::string> named_files(const TaskConfig& task, const SplitFiles& named,
                                       validate::Findings& findings) const;
  std::vector<std::string> found_files(const TaskConfig& task, const std::string& split) const;

  const DataSource& data_;
  std::map<std::pair<std::vector<std::string>, std::size_t>, SplitPtr> known_{};
};

}  // namespace stackgate::evaluator::harness
