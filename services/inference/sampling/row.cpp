#include "services/inference/sampling/row.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace stackgate::inference {
namespace {

using Lanes = float __attribute__((vector_size(16)));
using Bits = std::int32_t __attribute__((vector_size(16)));
constexpr std::size_t lanes = 4;
constexpr float nothing = -std::numeric_limits<float>::infinity();
constexpr float smallest_exponent = -87;  // exp of less is no normal number

Lanes load(const float* at) {
  Lanes out;
  std::memcpy(&out, at, sizeof out);
  return out;
}

Lanes all(float value) { return Lanes{value, value, value, value}; }

/// Of a value that is no number each comparison is false: it never wins.
Lanes greater_of(Lanes values, Lanes most) { return values > most ? values : most; }

float largest_lane(Lanes of) { return std::max(std::max(of[0], of[1]), std::max(of[2], of[3])); }

float largest_of_block(const float* at, std::size_t size) {
  Lanes most[4] = {all(nothing), all(nothing), all(nothing), all(nothing)};
  std::size_t i = 0;
  for (; i + 4 * lanes <= size; i += 4 * lanes)
    for (std::size_t part = 0; part < 4; ++part) most[part] = greater_of(load(at + i + part * lanes), most[part]);
  float out = largest_lane(greater_of(greater_of(most[0], most[1]), greater_of(most[2], most[3])));
  for (; i < size; ++i) out = at[i] > out ? at[i] : out;
  return out;
}

/// For values from `smallest_exponent` to 0, else 0: 2ⁿ by the exponent's bits, and a polynomial for the rest.
Lanes exponential(Lanes value) {
  constexpr float round = 12582912.0F;  // 1.5·2²³: adding it leaves the integer in the low bits
  constexpr float log2_of_e = 1.44269504F, ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;
  const auto in_range = value >= all(smallest_exponent);
  value = in_range ? value : all(0);
  const Lanes shifted = value * all(log2_of_e) + all(round);
  const Lanes whole = shifted - all(round);
  const Lanes rest = value - whole * all(ln2_high) - whole * all(ln2_low);
  Lanes sum = all(1.0F / 5040);
  for (const float factor : {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F})
    sum = sum * rest + all(factor);
  Bits power;
  std::memcpy(&power, &shifted, sizeof power);
  power = (power << 23) + 0x3f800000;
  Lanes scale;
  std::memcpy(&scale, &power, sizeof scale);
  return in_range ? sum * scale : all(0);
}

/// Weights of at most four values.
Lanes weights_of(const float* at, std::size_t size, float most, float scale) {
  Lanes values = all(nothing);
  if (size >= lanes)
    values = load(at);
  else
    std::memcpy(&values, at, size * sizeof(float));
  return exponential((values - all(most)) * all(scale));
}

double sum_of(Lanes values) {
  return (static_cast<double>(values[0]) + static_cast<double>(values[1])) +
         (static_cast<double>(values[2]) + static_cast<double>(values[3]));
}

}  // namespace

Scored largest(std::span<const float> row) {
  constexpr std::size_t block = 2048;
  float best = nothing;
  std::size_t begin = row.size();
  for (std::size_t i = 0; i < row.size(); i += block) {
    const float most = largest_of_block(row.data() + i, std::min(block, row.size() - i));
    if (most > best) {
      best = most;
      begin = i;
    }
  }
  while (begin < row.size() && row[begin] != best) ++begin;
  return {begin == row.size() ? 0 : static_cast<TokenId>(begin), best};
}

void best_of_row(std::span<const float> row, std::uint32_t count, std::vector<Scored>& out) {
  constexpr std::size_t block = 64;
  out.clear();
  if (count == 0) return;
  for (std::size_t i = 0; i < row.size(); i += block) {
    const std::size_t end = std::min(i + block, row.size());
    if (out.size() == count && !(largest_of_block(row.data() + i, end - i) > out.back().value)) continue;
    for (std::size_t id = i; id < end; ++id) {
      const Scored one{static_cast<TokenId>(id), std::isnan(row[id]) ? nothing : row[id]};
      if (out.size() == count && !ranks_before(one, out.back())) continue;
      if (out.size() == count) out.pop_back();
      out.insert(std::ranges::upper_bound(out, one, ranks_before), one);
    }
  }
}

double log_sum_exp(std::span<const float> row, float most) {
  double sum = 0;
  for (std::size_t i = 0; i < row.size(); i += weight_block) {
    Lanes part = all(0);
    const std::size_t end = std::min(i + weight_block, row.size());
    for (std::size_t at = i; at < end; at += lanes) part += weights_of(row.data() + at, end - at, most, 1);
    sum += sum_of(part);
  }
  return static_cast<double>(most) + std::log(sum);
}

void exponential_weights(std::span<const float> row, float most, float scale, float least, std::vector<float>& weights,
                         std::vector<double>& sums) {
  weights.resize(row.size());
  sums.clear();
  const Lanes floor = all(least);
  for (std::size_t i = 0; i < row.size(); i += weight_block) {
    Lanes part = all(0);
    const std::size_t end = std::min(i + weight_block, row.size());
    for (std::size_t at = i; at < end; at += lanes) {
      Lanes values = weights_of(row.data() + at, end - at, most, scale);
      values = values >= floor ? values : all(0);
      std::memcpy(weights.data() + at, &values, std::min(lanes, end - at) * sizeof(float));
      part += values;
    }
    sums.push_back(sum_of(part));
  }
}

}  // namespace stackgate::inference
