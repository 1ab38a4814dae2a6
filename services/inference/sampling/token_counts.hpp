// Which tokens a sequence has, for the penalties. One for each sequence that has any; not thread-safe.
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>

#include "services/inference/sampling/parameters.hpp"

namespace stackgate::inference {

class TokenCounts {
 public:
  explicit TokenCounts(std::span<const TokenId> prompt);
  void add_output(TokenId id) { ++output_counts_[id]; }

  /// The repetition penalty on tokens of prompt and output, once each; then frequency and presence penalty on those of
  /// the output. O(distinct tokens).
  void penalize(std::span<float> row, const SamplingParameters& by) const;

 private:
  std::unordered_map<TokenId, std::uint32_t> output_counts_;  // 0: of the prompt only
};

}  // namespace stackgate::inference
