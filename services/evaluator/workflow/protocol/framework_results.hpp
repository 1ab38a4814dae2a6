// results.json of a framework: lm-evaluation-harness's, or NeMo's shape. Pure.
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// Up to 32 MiB, 1,000 tasks, 10,000 scores. NaN and Infinity, which Python writes, and texts instead of numbers are
/// scores without a value. Of lm-evaluation-harness "acc,none" is the score "acc", "exact_match,strict-match" stays
/// what it is, "…_stderr,…" is its error. The error is a sentence.
std::expected<std::vector<TaskResult>, std::string> read_framework_results(std::string_view text);

/// NaN, Infinity and -Infinity outside of strings become null.
std::string without_nan(std::string_view json);

}  // namespace stackgate::evaluator
