// Whether scores of evaluations mean the same. Pure.
#pragma once
#include <expected>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "services/evaluator/compare/compare.hpp"

namespace stackgate::evaluator {

/// An evaluation's request and results, read.
struct ReadCompared {
  std::string framework{}, dataset{}, limit{}, seed{};  // as texts; "" for what is not there
  std::vector<TaskResult> tasks{};
  const TaskResult* find(std::string_view task) const;
};
/// The error is a sentence.
std::expected<ReadCompared, std::string> read_compared(const Compared& compared);

/// What differs from the first one, of the tasks that both have; at "evaluations[<i>]".
validate::Findings incomparable(std::span<const Compared> compared, std::span<const ReadCompared> read);

}  // namespace stackgate::evaluator
