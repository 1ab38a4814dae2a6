// Keys and values of all layers, in pages. Every page of every head is [positions, width] without gaps, as the kernels
// read it. Pure memory; not thread-safe for one page.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "services/model/directory/config.hpp"

namespace stackgate::model {

class Pages {
 public:
  enum class What : std::uint8_t { keys, values };

  /// Throws std::bad_alloc where so much cannot be had.
  Pages(const Config& config, std::size_t blocks, std::size_t block_tokens);

  float* at(std::size_t layer, What what, std::size_t block, std::size_t head) {
    return memory_.get() + offset(layer, what, block) + head * block_tokens_ * width_;
  }
  /// Of one head: appends the pages of `blocks`.
  void list(std::size_t layer, What what, std::span<const std::uint32_t> blocks, std::size_t head,
            std::vector<const float*>& out);
  std::size_t block_tokens() const { return block_tokens_; }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::size_t offset(std::size_t layer, What what, std::size_t block) const {
    return ((layer * 2 + static_cast<std::size_t>(what)) * blocks_ + block) * block_floats_;
  }

  std::size_t layers_, blocks_, block_tokens_, width_;
  std::size_t block_floats_;  // of one layer's keys or values
  // Zeros that the kernel makes when they are first touched: a page not yet written holds finite numbers.
  std::unique_ptr<float, Free> memory_;
};

}  // namespace stackgate::model
