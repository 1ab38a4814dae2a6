// Questions asked with tools, and the calls of the answers scored. Pure and thread-safe.
// Source: https://gorilla.cs.berkeley.edu/blogs/8_berkeley_function_calling_leaderboard.html
#pragma once
#include <string>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/task.hpp"
#include "services/evaluator/suite/task_rows.hpp"

namespace stackgate::evaluator {

class CallTask final : public Task {
 public:
  /// `categories`: one for each file of the rows; `version`: of the files' format.
  CallTask(std::string name, std::string version, EvaluationRequest request, TaskRows rows,
           std::vector<std::string> categories);

  const std::string& name() const override { return name_; }
  std::size_t samples() const override { return rows_.rows.size(); }
  std::vector<Asked> next(std::size_t sample, std::span<const Reply> replies) const override;
  Scored score(std::size_t sample, std::span<const Reply> replies) const override;
  /// Each category's accuracy, their mean (`overall_accuracy`, each category alike) and that of all samples
  /// (`overall_accuracy_weighted`); for rows with tool_calls NeMo's function_name_accuracy and
  /// function_name_and_args_accuracy.
  TaskResult result(std::span<const std::vector<double>> values, std::uint64_t failed) const override;

 private:
  std::string name_, version_;
  EvaluationRequest request_;
  TaskRows rows_;
  std::vector<std::string> categories_;
};

}  // namespace stackgate::evaluator
