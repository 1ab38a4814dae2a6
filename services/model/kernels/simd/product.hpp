// Rows times a matrix, in tiles of W rows of the weight and X rows of the input, whose sums stay in registers.
// Included as vector.hpp is.
#pragma once
#include "services/model/kernels/simd/vector.hpp"

template <class Type, int W, int X>
inline void tile(const typename Type::Element* w, unsigned long columns, const float* x, unsigned long x_stride,
                 float* y, unsigned long y_stride) {
  Floats sums[W][X] = {};
  const unsigned long whole = columns / LANES * LANES;
  for (unsigned long k = 0; k < whole; k += LANES) {
    Floats weight[W];
    for (int i = 0; i < W; ++i) weight[i] = Type::widen(w + static_cast<unsigned long>(i) * columns + k);
    for (int j = 0; j < X; ++j) {
      const Floats input = load_as<Floats>(x + static_cast<unsigned long>(j) * x_stride + k);
      for (int i = 0; i < W; ++i) sums[i][j] += weight[i] * input;
    }
  }
  if (whole < columns) {
    for (int i = 0; i < W; ++i) {
      const Floats weight = widen_tail<Type>(w + static_cast<unsigned long>(i) * columns + whole, columns - whole);
      for (int j = 0; j < X; ++j)
        sums[i][j] += weight * widen_tail<F32>(x + static_cast<unsigned long>(j) * x_stride + whole, columns - whole);
    }
  }
  for (int j = 0; j < X; ++j)
    for (int i = 0; i < W; ++i)
      y[static_cast<unsigned long>(j) * y_stride + static_cast<unsigned long>(i)] = sum(sums[i][j]);
}

/// W rows of the weight, all rows of the input.
template <class Type, int W, int X>
inline void strip(const typename Type::Element* w, unsigned long columns, const float* x, unsigned long x_stride,
                  unsigned long count, float* y, unsigned long y_stride) {
  unsigned long r = 0;
  for (; r + X <= count; r += X) tile<Type, W, X>(w, columns, x + r * x_stride, x_stride, y + r * y_stride, y_stride);
  if constexpr (X > 1) {
    if (r < count) strip<Type, W, X / 2>(w, columns, x + r * x_stride, x_stride, count - r, y + r * y_stride, y_stride);
  }
}

/// `rows` rows of the weight.
template <class Type>
inline void multiply(const typename Type::Element* w, unsigned long rows, unsigned long columns, const float* x,
                     unsigned long x_stride, unsigned long count, float* y, unsigned long y_stride) {
  unsigned long o = 0;
  for (; o + WEIGHT_ROWS <= rows; o += WEIGHT_ROWS)
    strip<Type, WEIGHT_ROWS, INPUT_ROWS>(w + o * columns, columns, x, x_stride, count, y + o, y_stride);
  for (; o < rows; ++o) strip<Type, 1, INPUT_ROWS>(w + o * columns, columns, x, x_stride, count, y + o, y_stride);
}

void product(const Matrix& w, std::size_t first, std::size_t last, const Rows& x, float* y, std::size_t y_stride) {
  const std::size_t offset = first * w.columns, rows = last - first;
  switch (w.type) {
    case Dtype::f32:
      return multiply<F32>(static_cast<const float*>(w.data) + offset, rows, w.columns, x.data, x.stride, x.count,
                           y + first, y_stride);
    case Dtype::f16:
      return multiply<F16>(static_cast<const unsigned short*>(w.data) + offset, rows, w.columns, x.data, x.stride,
                           x.count, y + first, y_stride);
    case Dtype::bf16:
      return multiply<BF16>(static_cast<const unsigned short*>(w.data) + offset, rows, w.columns, x.data, x.stride,
                            x.count, y + first, y_stride);
  }
}
