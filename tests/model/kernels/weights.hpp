// Drawn weights in the types of files, and what they are as numbers, by arithmetic instead of bits.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "services/model/kernels/kernels.hpp"

namespace stackgate::model {

class Drawn {
 public:
  explicit Drawn(unsigned seed) : engine_(seed) {}
  std::vector<float> floats(std::size_t count) {
    std::normal_distribution<float> normal;
    std::vector<float> out(count);
    for (float& each : out) each = normal(engine_);
    return out;
  }

 private:
  std::mt19937 engine_;
};

inline float widened(std::uint16_t bits, Dtype type) {
  const int exponent_bits = type == Dtype::f16 ? 5 : 8, mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1, exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return mantissa ? std::numeric_limits<float>::quiet_NaN()
                    : static_cast<float>(sign * std::numeric_limits<double>::infinity());
  const double fraction = std::ldexp(mantissa, -mantissa_bits) + (exponent == 0 ? 0 : 1);
  return static_cast<float>(sign * std::ldexp(fraction, (exponent == 0 ? 1 : exponent) - bias));
}

class Stored {
 public:
  Stored(std::vector<float> values, Dtype type) : type_(type), values_(std::move(values)) {
    if (type == Dtype::f32) return;
    for (const float each : values_) halves_.push_back(narrowed(each, type));
  }
  Matrix matrix(std::size_t rows, std::size_t columns) const {
    return {type_ == Dtype::f32 ? static_cast<const void*>(values_.data()) : halves_.data(), type_, rows, columns};
  }
  float value(std::size_t index) const { return type_ == Dtype::f32 ? values_[index] : widened(halves_[index], type_); }

 private:
  /// Rounded towards zero; of numbers that both types have.
  static std::uint16_t narrowed(float value, Dtype type) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (type == Dtype::bf16) return static_cast<std::uint16_t>(bits >> 16);
    const int exponent = static_cast<int>((bits >> 23) & 255) - 127 + 15;
    if (exponent <= 0) return static_cast<std::uint16_t>(bits >> 16 & 0x8000);
    return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | (static_cast<std::uint32_t>(exponent) << 10) |
                                      (bits >> 13 & 0x3ff));
  }

  Dtype type_;
  std::vector<float> values_;
  std::vector<std::uint16_t> halves_;
};

}  // namespace stackgate::model
