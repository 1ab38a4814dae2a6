// Rows asked and scored: similarity to a reference, string checks, and what a judge says. Pure and thread-safe.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "services/evaluator/suite/rows/row_plan.hpp"
#include "services/evaluator/suite/task.hpp"
#include "services/evaluator/suite/task_rows.hpp"

namespace stackgate::evaluator {

class RowTask final : public Task {
 public:
  RowTask(std::string name, std::shared_ptr<const RowPlan> plan, TaskRows rows)
      : name_(std::move(name)), plan_(std::move(plan)), rows_(std::move(rows)) {}

  /// Whether every template has what it names in this row; the error says which has not.
  static std::expected<void, std::string> check(const RowPlan& plan, const TaskRow& row);

  const std::string& name() const override { return name_; }
  std::size_t samples() const override { return rows_.rows.size(); }
  std::vector<Asked> next(std::size_t sample, std::span<const Reply> replies) const override;
  Scored score(std::size_t sample, std::span<const Reply> replies) const override;
  TaskResult result(std::span<const std::vector<double>> values, std::uint64_t failed) const override;

 private:
  std::string name_;
  std::shared_ptr<const RowPlan> plan_;
  TaskRows rows_;
};

}  // namespace stackgate::evaluator
