// float32 as the 16 bits of a narrower type, rounded to the nearest, ties to even; and back. Pure. Source: IEEE 754.
#pragma once
#include <bit>
#include <cstdint>

namespace stackgate::trainer {

constexpr std::uint16_t bfloat16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>(bits >> 16U | 0x40U);  // no number
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}

constexpr std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return sign | 0x7e00U;   // no number
  if (magnitude >= 0x477ff000U) return sign | 0x7c00U;  // what rounds beyond 65504 is infinite
  if (magnitude < 0x38800000U) {
    // Subnormal: adding 2^(-24 + 23) leaves the wanted bits at the end of the sum, rounded.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
  }
  const std::uint32_t rounded = magnitude + 0xfffU + (magnitude >> 13U & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13U));
}

}  // namespace stackgate::trainer
