// What MT-Bench's judges are asked. Pure.
// The contract is MT-Bench's (Zheng et al., 2023): an impartial judge, a short explanation, then a verdict in double
// brackets; references for math, reasoning and coding. The words are our own, so absolute ratings are comparable with
// each other and not with published ones.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace stackgate::evaluator {

/// The turns so far; the last one is judged.
struct Exchange {
  std::span<const std::string> questions{}, answers{}, references{};  // references: empty, or one for each turn
};

struct JudgePrompt {
  std::string system{}, user{};
};

/// "Rating: [[5]]".
JudgePrompt rating_prompt(const Exchange& exchange);
/// "[[A]]", "[[B]]" or "[[C]]" for a tie. Both were asked the same.
JudgePrompt pair_prompt(const Exchange& a, std::span<const std::string> answers_of_b);

}  // namespace stackgate::evaluator
