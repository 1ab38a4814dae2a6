// One row of logits to one token, in vLLM's order: allowed tokens, bias, tokens that may not end the sequence yet,
// penalties, temperature, min_p, top_k, top_p, draw.
#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <vector>

#include "services/inference/sampling/parameters.hpp"
#include "services/inference/sampling/philox.hpp"
#include "services/inference/sampling/token_counts.hpp"
#include "services/inference/sampling/truncation.hpp"
#include "services/kit/base/error.hpp"

namespace stackgate::inference {

/// All that decides about one token besides the row. Views must live during the call.
struct Choosing {
  const SamplingParameters& parameters;
  Draw draw;                                    // draw.position: how many tokens the sequence has put out
  const TokenCounts* counts = nullptr;          // needed where parameters.penalizes()
  std::span<const TokenId> ending = {};         // what ends the sequence: forbidden until min_tokens
  std::span<const std::uint64_t> allowed = {};  // bit id % 64 of word id / 64; empty: all
};

/// Keeps buffers of the row's size: one for each thread. The token depends on the row and `Choosing` only.
class Sampler {
 public:
  /// The error: no token may be chosen, or the row is not finite (the engine's fault, or a broken model).
  std::expected<TokenId, Error> choose(std::span<const float> row, const Choosing& how);

 private:
  std::span<const float> adjusted(std::span<const float> row, const Choosing& how);
  TokenId drawn(std::span<const float> row, float most, const Choosing& how);

  std::vector<float> row_, weights_;
  std::vector<double> sums_;
  Truncation truncation_;
};

}  // namespace stackgate::inference
