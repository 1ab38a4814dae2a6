// Programs asked for and run: pass@k as bigcode's harness computes it. Pure and thread-safe: the programs are run by
// whoever answers Whom::runner.
// Source: Chen et al. (2021); https://github.com/bigcode-project/bigcode-evaluation-harness
#pragma once
#include <string>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/task.hpp"
#include "services/evaluator/suite/task_rows.hpp"

namespace stackgate::evaluator {

/// Asked of each problem: `programs` answers, with seeds one behind the other; then the runner about each.
class CodeTask final : public Task {
 public:
  /// The rows were read before: all are sound.
  CodeTask(std::string name, EvaluationRequest request, TaskRows rows)
      : name_(std::move(name)), request_(std::move(request)), rows_(std::move(rows)) {}

  const std::string& name() const override { return name_; }
  std::size_t samples() const override { return rows_.rows.size(); }
  std::vector<Asked> next(std::size_t sample, std::span<const Reply> replies) const override;
  Scored score(std::size_t sample, std::span<const Reply> replies) const override;
  /// "pass@1", …: of problems with at least as many programs that were run.
  TaskResult result(std::span<const std::vector<double>> values, std::uint64_t failed) const override;

 private:
  std::string name_;
  EvaluationRequest request_;
  TaskRows rows_;
};

}  // namespace stackgate::evaluator
