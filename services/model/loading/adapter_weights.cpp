#include "services/model/loading/adapter_weights.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace stackgate::model {
namespace {

constexpr std::size_t tile = 32;  // of a matrix that is transposed: both sides stay in the cache

// `head` follows the seven modules of a layer.
static_assert(static_cast<std::size_t>(Linear::head) == module_names.size());

float widened_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16U, magnitude = bits & 0x7fffU;
  if (magnitude >= 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13U);
  // The exponent's bias is 15 there and 127 here; multiplying makes normal numbers of subnormal ones.
  const float scaled = std::bit_cast<float>(magnitude << 13U) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
}

/// Tensors need not be aligned.
std::vector<float> floats(std::span<const std::byte> bytes, Dtype type) {
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

/// [out, rank] → [rank, out], times `scale`.
std::vector<float> transposed(const std::vector<float>& b, std::size_t rank, float scale) {
  const std::size_t rows = b.size() / rank;
  std::vector<float> out(b.size());
  for (std::size_t begin = 0; begin < rows; begin += tile)
    for (std::size_t r = 0; r < rank; ++r)
      for (std::size_t row = begin; row < rows && row < begin + tile; ++row)
        out[r * rows + row] = b[row * rank + r] * scale;
  return out;
}

}  // namespace

AdapterWeights adapter_weights(const LoadedAdapter& loaded, const Config& base) {
  AdapterWeights out;
  out.layers.resize(base.layers);
  for (const AdapterModule& each : loaded.adapter.modules) {
    LowRank& pair =
        each.linear == Linear::head ? out.head : out.layers[each.layer][static_cast<std::size_t>(each.linear)];
    pair.rank = each.rank;
    pair.a = floats(loaded.bytes(each.a), each.a.dtype);
    pair.b = transposed(floats(loaded.bytes(each.b), each.b.dtype), each.rank, static_cast<float>(each.scale));
  }
  return out;
}

}  // namespace stackgate::model
