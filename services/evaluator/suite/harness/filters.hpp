// What is done to a model's answers before they are scored: lm-evaluation-harness' filters. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/evaluator/suite/harness/patterns.hpp"

namespace stackgate::evaluator::harness {

struct FilterStep {
  enum class Function : std::uint8_t {
    regex,
    take_first,
    take_first_k,
    majority_vote,
    lowercase,
    uppercase,
    remove_whitespace,
    map,
    multi_choice_regex
  } function{};
  std::optional<Pattern> pattern{};
  std::int64_t group_select = 0;  // which of the matches; negative: from the end
  std::string fallback = "[invalid]";
  std::uint32_t k = 1;
  std::vector<std::pair<std::string, std::string>> mapping{};
  std::string otherwise = "None";  // of map: what Python's None is as a text
  bool ignore_case = false, ignore_punctuation = false;
  std::vector<Pattern> ignored{};
};

struct FilterPipeline {
  std::string name = "none";
  std::vector<FilterStep> steps{};
};

/// The answers of one sample, which are at least one; what is left is at least one. `choices`: the row's "choices", for
/// multi_choice_regex.
std::vector<std::string> filtered(const FilterPipeline& pipeline, std::vector<std::string> answers,
                                  const std::vector<std::string>& choices);

/// How many answers are left of so many.
std::uint32_t left_of(const FilterPipeline& pipeline, std::uint32_t answers);

}  // namespace stackgate::evaluator::harness
