#include "services/model/loading/adapter_weights.hpp"

#include "services/model/loading/floats.hpp"

namespace stackgate::model {
namespace {

constexpr std::size_t tile = 32;  // of a matrix that is transposed: both sides stay in the cache

// `head` follows the seven modules of a layer.
static_assert(static_cast<std::size_t>(Linear::head) == module_names.size());

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
    pair.a = floats_of(loaded.bytes(each.a), each.a.dtype);
    pair.b = transposed(floats_of(loaded.bytes(each.b), each.b.dtype), each.rank, static_cast<float>(each.scale));
  }
  return out;
}

}  // namespace stackgate::model
