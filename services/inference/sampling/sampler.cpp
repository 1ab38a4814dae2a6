#include "services/inference/sampling/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "services/inference/sampling/row.hpp"

namespace stackgate::inference {
namespace {

constexpr float forbidden = -std::numeric_limits<float>::infinity();

void forbid_others(std::span<float> row, std::span<const std::uint64_t> allowed) {
  constexpr std::size_t bits = 64;
  for (std::size_t id = 0; id < row.size(); ++id) {
    const std::size_t word = id / bits;
    if (word >= allowed.size() || (allowed[word] >> (id % bits) & 1U) == 0) row[id] = forbidden;
  }
}

/// The first whose share of the sum reaches beyond `point`.
TokenId at_point(std::span<const Scored> kept, double point) {
  for (const Scored& one : kept) {
    point -= static_cast<double>(one.value);
    if (point < 0) return one.id;
  }
  return kept.back().id;
}

TokenId at_point(std::span<const float> weights, std::span<const double> sums, double point) {
  std::size_t block = 0;
  while (block < sums.size() && point >= sums[block]) point -= sums[block++];
  for (std::size_t id = block * weight_block; id < weights.size(); ++id) {
    if (weights[id] <= 0) continue;
    point -= static_cast<double>(weights[id]);
    if (point < 0) return static_cast<TokenId>(id);
  }
  // Rounding left a little beyond the end.
  std::size_t last = weights.size() - 1;
  while (last > 0 && weights[last] == 0) --last;
  return static_cast<TokenId>(last);
}

}  // namespace

std::span<const float> Sampler::adjusted(std::span<const float> row, const Choosing& how) {
  const SamplingParameters& by = how.parameters;
  const bool penalizes = how.counts != nullptr && by.penalizes();
  const bool goes_on = how.draw.position < by.min_tokens && !how.ending.empty();
  if (how.allowed.empty() && by.logit_bias.empty() && !goes_on && !penalizes) return row;
  row_.assign(row.begin(), row.end());
  if (!how.allowed.empty()) forbid_others(row_, how.allowed);
  for (const auto& [id, bias] : by.logit_bias)
    if (id < row_.size()) row_[id] += bias;
  if (goes_on)
    for (const TokenId id : how.ending)
      if (id < row_.size()) row_[id] = forbidden;
  if (penalizes) how.counts->penalize(row_, by);
  return row_;
}

TokenId Sampler::drawn(std::span<const float> row, float most, const Choosing& how) {
  const SamplingParameters& by = how.parameters;
  exponential_weights(row, most, 1 / by.temperature, std::min(by.min_p, 1.0F), weights_, sums_);
  const double total = std::accumulate(sums_.begin(), sums_.end(), 0.0), at = uniform(how.draw);
  if (!(total > 0)) return largest(row).id;  // a temperature that is no number
  if (by.top_k == 0 && by.top_p >= 1) return at_point(weights_, sums_, at * total);
  const auto kept = truncation_.keep(weights_, total, by.top_k, by.top_p);
  double left = 0;
  for (const Scored& one : kept) left += static_cast<double>(one.value);
  return at_point(kept, at * left);
}

std::expected<TokenId, Error> Sampler::choose(std::span<const float> row, const Choosing& how) {
  row = adjusted(row, how);
  const Scored best = largest(row);
  if (!std::isfinite(best.value))
    return std::unexpected(
        Error{fmt::format("no token can be chosen: the largest of {} logits is {}", row.size(), best.value)});
  return how.parameters.greedy() ? best.id : drawn(row, best.value, how);
}

}  // namespace stackgate::inference
