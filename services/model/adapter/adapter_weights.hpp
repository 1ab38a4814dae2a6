// A LoRA adapter as the graph applies it: y += (x · Aᵀ) · B.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "services/model/modules.hpp"

namespace stackgate::model {

struct LowRank {
  std::size_t rank = 0;  // 0: the module is not adapted
  std::vector<float> a;  // [rank, in]
  std::vector<float> b;  // [rank, out]: the file's B, transposed, times the adapter's scale
};

/// Immutable once it is given to a Graph. The shapes are those of the base model.
struct AdapterWeights {
  std::vector<std::array<LowRank, module_names.size()>> layers;
  LowRank head;
  /// What a graph keeps of it on its device, as long as it lives. Only the thread of that graph's steps looks at it.
  mutable std::shared_ptr<const void> on_device;
};

/// What its matrices take.
inline std::size_t memory_bytes(const AdapterWeights& weights) {
  const auto floats = [](const LowRank& pair) { return pair.a.size() + pair.b.size(); };
  std::size_t out = floats(weights.head);
  for (const auto& layer : weights.layers)
    for (const LowRank& pair : layer) out += floats(pair);
  return out * sizeof(float);
}

}  // namespace stackgate::model
