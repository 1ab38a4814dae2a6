// Integers that a field or an environment variable holds as text.
#pragma once
#include <cstdint>
#include <expected>
#include <string_view>

#include "services/kit/grammar/problem.hpp"

namespace stackgate::validate::grammar {

/// Decimal digits with an optional '-', nothing around them, within 64 bits. "+1" and "007" are refused: programs
/// disagree about them.
std::expected<std::int64_t, Problem> parse_integer(std::string_view text);

/// The same, and at least 1.
std::expected<std::int64_t, Problem> parse_positive_integer(std::string_view text);

}  // namespace stackgate::validate::grammar
