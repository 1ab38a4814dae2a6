// What is asked of a whole row of logits: a float32 value for each id of the vocabulary. Written for vectors of four
// (SSE2, NEON), so that every machine gives the same result. Values that are not numbers count as -infinity. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "services/inference/sampling/parameters.hpp"

namespace stackgate::inference {

struct Scored {
  TokenId id = 0;
  float value = 0;
};

/// Before another: greater, and of equals the lower id.
inline bool ranks_before(const Scored& a, const Scored& b) {
  return a.value != b.value ? a.value > b.value : a.id < b.id;
}

/// The largest value, and of equals the lowest id; {0, -infinity} when there is nothing above -infinity.
Scored largest(std::span<const float> row);

/// The `count` largest, best first; fewer when the row has fewer. Made for small counts.
void best_of_row(std::span<const float> row, std::uint32_t count, std::vector<Scored>& out);

/// log Σ exp(value), where `most` is the largest value.
double log_sum_exp(std::span<const float> row, float most);

inline constexpr std::size_t weight_block = 256;

/// weights[i] = exp((row[i] - most) · scale), 1 for the largest; what is below `least` becomes 0. `sums` gets the sum
/// of each `weight_block` weights. Both are resized.
void exponential_weights(std::span<const float> row, float most, float scale, float least, std::vector<float>& weights,
                         std::vector<double>& sums);

}  // namespace stackgate::inference
