// `stackgate-evaluator score`: a line in, a line out. Pure and thread-safe; the bytes come from outside.
//
//   {"id", "metric", "params", "items"}  →  {"id", "scores"}  or  {"id", "error": {"path", "message"}}
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stackgate::evaluator {

inline constexpr std::size_t longest_score_line = 64U << 20U;  // bytes

/// Without a line end. Numbers that are none (NaN, infinite) are null.
std::string score_line(std::string_view line);

/// The answer to a line that was too long to be kept.
std::string score_line_too_long();

/// "exact_match", "f1", …: for --help.
std::span<const std::string_view> score_metrics();

}  // namespace stackgate::evaluator
