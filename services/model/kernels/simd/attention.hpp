// Attention of a few queries over the pages of one head. Included as vector.hpp is.
#pragma once
#include "services/model/kernels/simd/product.hpp"

/// In place: scores → e^(scale * (score - greatest)), and what they add up to.
inline float exponentials(float* scores, unsigned long length, float scale) {
  float greatest = scores[0];
  for (unsigned long i = 1; i < length; ++i) greatest = scores[i] > greatest ? scores[i] : greatest;
  Floats total{};
  unsigned long i = 0;
  for (; i + LANES <= length; i += LANES) {
    const Floats value = exp_of_negative((load_as<Floats>(scores + i) - splat(greatest)) * splat(scale));
    __builtin_memcpy(scores + i, &value, sizeof value);
    total += value;
  }
  if (i < length) {
    const Floats value = exp_of_negative((widen_tail<F32>(scores + i, length - i) - splat(greatest)) * splat(scale));
    __builtin_memcpy(scores + i, &value, (length - i) * sizeof(float));
    for (unsigned long k = i; k < length; ++k) total[static_cast<int>(k - i)] += scores[k];
  }
  return sum(total);
}

/// `V` vectors of the result of X queries; what is beyond a query's length has the weight 0.
template <int X, int V>
inline void mix(const float* weights, unsigned long weights_stride, unsigned long length, const Pages& values,
                unsigned long width, unsigned long column, const float* total, float* out, unsigned long out_stride) {
  Floats sums[X][V] = {};
  for (unsigned long begin = 0; begin < length; begin += values.block) {
    const float* block = values.blocks[begin / values.block] + column;
    const unsigned long count = length - begin < values.block ? length - begin : values.block;
    for (unsigned long i = 0; i < count; ++i) {
      Floats value[V];
      for (int v = 0; v < V; ++v) value[v] = load_as<Floats>(block + i * width + static_cast<unsigned long>(v) * LANES);
      for (int j = 0; j < X; ++j) {
        const Floats weight = splat(weights[static_cast<unsigned long>(j) * weights_stride + begin + i]);
        for (int v = 0; v < V; ++v) sums[j][v] += weight * value[v];
      }
    }
  }
  for (int j = 0; j < X; ++j)
    for (int v = 0; v < V; ++v) {
      const Floats value = sums[j][v] / splat(total[j]);
      __builtin_memcpy(
          out + static_cast<unsigned long>(j) * out_stride + column + static_cast<unsigned long>(v) * LANES, &value,
          sizeof value);
    }
}

/// The columns that fill no vector.
inline void mix_tail(const float* weights, unsigned long length, const Pages& values, unsigned long width,
                     unsigned long column, float total, float* out) {
  for (; column < width; ++column) {
    float value = 0;
    for (unsigned long i = 0; i < length; ++i)
      value += weights[i] * values.blocks[i / values.block][i % values.block * width + column];
    out[column] = value / total;
  }
}

template <int X>
inline void attend_to(const Attention& a, unsigned long first, float* out, unsigned long out_stride) {
  unsigned long longest = 0;
  for (int j = 0; j < X; ++j) {
    const unsigned long length = a.lengths[first + static_cast<unsigned long>(j)];
    longest = length > longest ? length : longest;
  }
  float* const scores = a.scratch;
  const float* const queries = a.queries.data + first * a.queries.stride;
  for (unsigned long begin = 0; begin < longest; begin += a.keys.block) {
    const unsigned long count = longest - begin < a.keys.block ? longest - begin : a.keys.block;
    multiply<F32>(a.keys.blocks[begin / a.keys.block], count, a.width, queries, a.queries.stride, X, scores + begin,
                  longest);
  }
  float total[X];
  for (int j = 0; j < X; ++j) {
    float* const row = scores + static_cast<unsigned long>(j) * longest;
    const unsigned long length = a.lengths[first + static_cast<unsigned long>(j)];
    total[j] = exponentials(row, length, a.scale);
    for (unsigned long i = length; i < longest; ++i) row[i] = 0;
  }
  unsigned long column = 0;
  for (; column + 4 * LANES <= a.width; column += 4 * LANES)
    mix<X, 4>(scores, longest, longest, a.values, a.width, column, total, out, out_stride);
  for (; column + LANES <= a.width; column += LANES)
    mix<X, 1>(scores, longest, longest, a.values, a.width, column, total, out, out_stride);
  for (int j = 0; j < X; ++j)
    mix_tail(scores + static_cast<unsigned long>(j) * longest, longest, a.values, a.width, column, total[j],
             out + static_cast<unsigned long>(j) * out_stride);
}

void attend(const Attention& a, float* out, std::size_t out_stride) {
  unsigned long r = 0;
  for (; r + QUERIES <= a.queries.count; r += QUERIES) attend_to<QUERIES>(a, r, out + r * out_stride, out_stride);
  for (; r < a.queries.count; ++r) attend_to<1>(a, r, out + r * out_stride, out_stride);
}
