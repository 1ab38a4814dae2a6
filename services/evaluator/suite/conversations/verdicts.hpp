// What judges say in double brackets, read. The bytes come from a model that read another model's answer. Pure.
// Source: https://github.com/lm-sys/FastChat/blob/main/fastchat/llm_judge/common.py
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::evaluator {

/// "Rating: [[7]]": the first number in double brackets, else the first in single ones, as MT-Bench reads them; 1 … 10.
/// The error says why there is none.
std::expected<double, std::string> read_rating(std::string_view judgment);

/// "[[A]]", "[[B]]" or "[[C]]", a tie: the last of them, which comes after the reasons.
enum class Preference : std::uint8_t { a, b, tie };
std::optional<Preference> read_preference(std::string_view judgment);

/// "[[yes]]" or "[[no]]", in capitals or not: the last of them.
std::optional<bool> read_yes_no(std::string_view judgment);

/// The lines that begin with "- ", without it; at most `most` of at most 500 bytes.
std::vector<std::string> read_list(std::string_view judgment, std::size_t most);

/// What follows "<label>:" on its line, white space aside; "": there is no such line.
std::string_view read_line(std::string_view judgment, std::string_view label);

}  // namespace stackgate::evaluator
