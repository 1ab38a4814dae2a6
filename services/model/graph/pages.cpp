#include "services/model/graph/pages.hpp"

#include <cstring>
#include <new>

namespace stackgate::model {

Pages::Pages(const Config& config, std::size_t blocks, std::size_t block_tokens)
    : layers_(config.layers),
      blocks_(blocks),
      block_tokens_(block_tokens),
      width_(config.head_width),
      block_floats_(block_tokens * width_ * config.key_value_heads),
      memory_(static_cast<float*>(std::calloc(layers_ * 2 * blocks_ * block_floats_, sizeof(float)))) {
  if (memory_ == nullptr) throw std::bad_alloc();
}

void Pages::list(std::size_t layer, What what, std::span<const std::uint32_t> blocks, std::size_t head,
                 std::vector<const float*>& out) {
  for (const std::uint32_t block : blocks) out.push_back(at(layer, what, block, head));
}

}  // namespace stackgate::model
