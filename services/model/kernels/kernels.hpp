// The products of a model with a few rows, on a CPU: what a BLAS does far below the memory's bandwidth. A weight is
// read once, in the type in which it lies in its file, and widened in registers; arithmetic is float32.
//
// Every function works on one thread, on the part it is given, so that the caller shares the work out. The result of a
// row does not depend on the rows beside it, bit for bit, nor on how the work was shared out.
//
// Structures of pointers and numbers, without member functions: see simd/vector.inc. Pure; thread-safe as long as
// outputs do not overlap. Pointers need no alignment beyond their type's.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "services/model/dtype.hpp"

namespace stackgate::model {

/// [rows, columns], row by row without gaps: a weight [out, in] of a safetensors file.
struct Matrix {
  const void* data = nullptr;
  Dtype type = Dtype::f32;
  std::size_t rows = 0, columns = 0;
};

/// `count` rows of float32; row r begins at data + r * stride.
struct Rows {
  const float* data = nullptr;
  std::size_t count = 0, stride = 0;
};

/// Keys or values of one head: blocks of `block` positions, each [block, width] without gaps.
struct PageList {
  const float* const* blocks = nullptr;
  std::size_t block = 0;  // positions
};

/// Queries that share a head of keys and values. Row r sees the positions [0, lengths[r]), at least one.
struct Attention {
  Rows queries;
  const std::size_t* lengths = nullptr;
  PageList keys, values;
  std::size_t width = 0;     // of a head
  float scale = 1;           // of the scores
  float* scratch = nullptr;  // attention_scratch() floats; nothing is kept in it
};

struct Kernels {
  std::string_view instruction_set;  // "avx512", "avx2", "baseline"
  /// y[r * y_stride + o] = x[r] · w[o] for each row r of x and each o in [first, last).
  void (*product)(const Matrix& w, std::size_t first, std::size_t last, const Rows& x, float* y, std::size_t y_stride);
  /// y[r * y_stride + o] += the sum over k < count of weights[r][k] * rows[k * width + o].
  void (*add_combinations)(const Rows& weights, const float* rows, std::size_t count, std::size_t width, float* y,
                           std::size_t y_stride);
  /// out[r * out_stride …] = softmax(scale * q[r] · keys) · values
  void (*attend)(const Attention& attention, float* out, std::size_t out_stride);
};

/// Floats of scratch that attend() needs when no length is greater.
std::size_t attention_scratch(std::size_t longest);

/// Of this machine, chosen once.
const Kernels& kernels();

/// Those that this machine can run, the best one first.
std::span<const Kernels> runnable_kernels();

}  // namespace stackgate::model
