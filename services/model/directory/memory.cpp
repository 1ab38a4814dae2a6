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

}  // namespace stackgate::model
