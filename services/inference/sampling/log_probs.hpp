// Log-probabilities as they are reported: of the raw logits, before bias, penalties and temperature. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "services/inference/sampling/parameters.hpp"

namespace stackgate::inference {

struct TokenLogProb {
  TokenId id = 0;
  float log_prob = 0;
  bool operator==(const TokenLogProb&) const = default;
};

/// Of one position. All numbers come from one row: the chosen token's is, to the bit, that of its entry in `top`.
struct LogProbs {
  float chosen = 0;
  std::vector<TokenLogProb>
      top;  // the best, likeliest first, of equals the lower id; then the chosen one, if not among them
};

/// `top`: how many of the best; the chosen token's entry comes on top of that. For a row whose largest value is finite,
/// and for ids inside of it.
LogProbs log_probs(std::span<const float> row, TokenId chosen, std::uint32_t top);

}  // namespace stackgate::inference
