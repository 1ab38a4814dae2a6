#include "services/model/loading/floats.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace stackgate::model {
namespace {

float widened_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16U, magnitude = bits & 0x7fffU;
  if (magnitude >= 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13U);
  // The exponent's bias is 15 there and 127 here; multiplying makes normal numbers of subnormal ones.
  const float scaled = std::bit_cast<float>(magnitude << 13U) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
}

}  // namespace

std::vector<float> floats_of(std::span<const std::byte> bytes, Dtype type) {
  std::vector<float> out(bytes.size() / bytes_of(type));
  if (type == Dtype::f32) {
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(float));
    return out;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
    out[i] = type == Dtype::f16 ? widened_half(bits) : std::bit_cast<float>(std::uint32_t{bits} << 16U);
  }
  return out;
}

}  // namespace stackgate::model
