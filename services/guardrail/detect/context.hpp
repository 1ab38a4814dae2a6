// Words before a finding that make it more likely.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stackgate::guardrail {

/// Whether one of the five words before `at`, within 200 bytes, is one of `words` (lower case) or its plural.
bool has_context(std::string_view text, std::size_t at, std::span<const std::string_view> words);
bool has_context(std::string_view text, std::size_t at, std::span<const std::string> words);

/// 0.35 more, at least 0.4, at most 1: Presidio's enhancer.
float raised_by_context(float score);

}  // namespace stackgate::guardrail
