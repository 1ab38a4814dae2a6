#include "services/model/directory/memory.hpp"

namespace stackgate::model {

MemoryNeeded memory_needed(const ModelDirectory& model, Dtype cache) {
  MemoryNeeded out;
  for (const auto& [name, tensor] : model.tensors)
    out.weights[static_cast<std::size_t>(tensor.place.dtype)] += tensor.place.bytes;
  const Config& config = model.config;
  out.cache_per_token = std::uint64_t{2} * config.layers * config.key_value_heads * config.head_width * bytes_of(cache);
  return out;
}

std::uint64_t copied_weights(const ModelDirectory& model, const Placement& placement) {
  std::uint64_t out = 0;
  for (const auto& [name, tensor] : model.tensors) {
    const bool is_matrix = tensor.place.shape.size() == 2, is_mapped = placement.device == Device::cpu;
    const Dtype type = is_matrix ? placement.dtype : Dtype::f32;
    if (is_mapped && (type == tensor.place.dtype || (is_matrix && type == Dtype::f32))) continue;
    out += tensor.place.bytes / bytes_of(tensor.place.dtype) * bytes_of(type);
  }
  return out;
}

}  // namespace stackgate::model
