// How long a match of a regular expression can be. Pure.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace stackgate::guardrail {

/// At least the bytes of the longest match of `expression` (RE2's syntax), one character on each side that assertions
/// look at included; nothing when there is no such number (`*`, `+`, `{3,}`) or it is not seen.
std::optional<std::size_t> longest_match(std::string_view expression);

}  // namespace stackgate::guardrail
