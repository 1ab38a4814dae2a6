// Log-probabilities with the names of their tokens, as answers show them. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/inference/sampling/log_probs.hpp"
#include "services/model/tokenizer/tokenizer.hpp"

namespace stackgate::inference {

struct NamedLogProb {
  std::string token;  // its text, or bytes:\xe2: no two tokens have the same name
  std::string bytes;
  float log_prob = 0;
};

/// One position of a prompt or an answer.
struct PositionLogProbs {
  std::string token;
  std::string bytes;
  std::optional<float> log_prob;  // none for a prompt's first token
  std::vector<NamedLogProb> top;  // likeliest first; the token itself is among them, unless it has no log_prob
  std::uint64_t text_offset = 0;  // code points
};

PositionLogProbs named(const tokenizer::Tokenizer& tokenizer, TokenId id, const LogProbs& of,
                       std::uint64_t text_offset);
/// A prompt's first token.
PositionLogProbs named(const tokenizer::Tokenizer& tokenizer, TokenId id, std::uint64_t text_offset);

}  // namespace stackgate::inference
