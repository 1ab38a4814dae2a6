// The owner of a parsed tree.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::json {

/// Bump allocator. reset() keeps the memory for the next document. Not thread-safe.
class Arena {
 public:
  void* allocate(std::size_t bytes, std::size_t alignment);
  std::string_view copy(std::string_view text);
  template <class T>
  std::span<T> copy(std::span<const T> source);
  template <class T, class... Args>
  T* make(Args&&... args) {
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }
  /// Everything handed out becomes invalid; the largest block is kept.
  void reset();
  std::size_t bytes_used() const { return used_; }

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };
  std::vector<Block> blocks_;
  std::size_t at_ = 0;    // in the last block
  std::size_t used_ = 0;  // in all blocks
};

template <class T>
std::span<T> Arena::copy(std::span<const T> source) {
  static_assert(std::is_trivially_destructible_v<T>);
  T* out = static_cast<T*>(allocate(source.size_bytes(), alignof(T)));
  std::uninitialized_copy(source.begin(), source.end(), out);
  return {out, source.size()};
}

struct Document {
  Value root;
  Arena arena;
};

}  // namespace stackgate::json
