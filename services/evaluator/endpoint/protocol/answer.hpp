// What a model answered, read with limits. Pure and thread-safe: the bytes come from outside. The errors are sentences
// without anything of the answer.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/endpoint/protocol/question.hpp"

namespace stackgate::evaluator {

struct Likelihood {
  double sum = 0;  // of the natural logarithms
  std::uint32_t tokens = 0;
  bool is_greedy = false;  // every token was its place's most likely one
};

struct Answer {
  std::string text{};
  std::string tool_calls{};  // JSON array, or ""
  std::string finish_reason{};
  std::uint32_t prompt_tokens = 0, completion_tokens = 0;
  std::optional<Likelihood> likelihood{};  // of a question that asks for it
};

inline constexpr std::size_t largest_answer = 16U << 20U;  // bytes

std::expected<Answer, std::string> read_answer(const Question& question, std::string_view body);

/// Ids of GET /models, in order; at most 10,000.
std::expected<std::vector<std::string>, std::string> read_models(std::string_view body);

/// The endpoint's own words of an error, at most 300 bytes in one line, without `key`; empty: none.
std::string read_error(std::string_view body, std::string_view key);

}  // namespace stackgate::evaluator
