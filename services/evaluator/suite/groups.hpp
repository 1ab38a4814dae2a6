// What groups of tasks come to, as lm-evaluation-harness computes it. Pure.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

struct GroupResult {
  std::string name{}, alias{}, version{};
  std::vector<std::string> tasks{};
  std::vector<Score> scores{};
};

/// Groups that have a score, in the order in which tasks name them. A score is the mean of the tasks that have it; its
/// error is pooled from theirs, and is not known where one of theirs is not.
std::vector<GroupResult> group_results(std::span<const TaskResult> tasks);

}  // namespace stackgate::evaluator
