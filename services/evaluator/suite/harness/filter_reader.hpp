// filter_list of a task file. Pure.
#pragma once
#include <optional>
#include <vector>

#include "services/evaluator/suite/harness/filters.hpp"
#include "services/evaluator/suite/harness/task_files.hpp"

namespace stackgate::evaluator::harness {

/// At least one: without any it is "none", which takes the first answer.
std::vector<FilterPipeline> read_filters(const std::optional<Node>& list, validate::Findings& findings);

}  // namespace stackgate::evaluator::harness
