// Results as NeMo's evaluator and lm-evaluation-harness write them. Pure.
#pragma once
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// {"tasks":{<task>:{"metrics":{<metric>:{"scores":{<score>:{"value","stats":{…}}}}}, …}},
/// "groups":{<group>:{"metrics":{…},"tasks":[…]}}}: an object. Values that are none are null.
std::string results_json(std::span<const TaskResult> tasks, bool complete);

/// The same read again; also NeMo's own, which has neither versions nor shots, and whose groups are read as tasks. Up
/// to 1,000 tasks and 10,000 scores. Members of a wrong type read as absent; values that are texts ("NaN") as none. The
/// error is a sentence.
std::expected<std::vector<TaskResult>, std::string> read_results(std::string_view text);

}  // namespace stackgate::evaluator
