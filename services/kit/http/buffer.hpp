// Read buffers of one event loop: taken when bytes arrive, given back between requests, so that an idle connection
// holds none. Not thread-safe.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace stackgate::http {

/// Uninitialised bytes that can grow in place. An empty buffer owns nothing.
class Buffer {
 public:
  char* data() const { return bytes_.get(); }
  std::size_t capacity() const { return capacity_; }
  /// Keeps what was written. Throws std::bad_alloc.
  void grow(std::size_t capacity) {
    void* grown = std::realloc(bytes_.get(), capacity);
    if (grown == nullptr) throw std::bad_alloc();
    (void)bytes_.release();  // realloc has taken it
    bytes_.reset(static_cast<char*>(grown));
    capacity_ = capacity;
  }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<char, Free> bytes_;
  std::size_t capacity_ = 0;
};

class BufferPool {
 public:
  static constexpr std::size_t block_bytes = 16 * 1024;  // one TLS record, and nearly every request
  static constexpr std::size_t blocks_kept = 64;

  Buffer take() {
    Buffer buffer;
    if (free_.empty()) {
      buffer.grow(block_bytes);
    } else {
      buffer = std::exchange(free_.back(), {});
      free_.pop_back();
    }
    return buffer;
  }
  /// Blocks that have grown are freed instead.
  void give(Buffer&& buffer) {
    Buffer taken = std::move(buffer);
    buffer = {};
    if (taken.capacity() == block_bytes && free_.size() < blocks_kept) free_.push_back(std::move(taken));
  }

 private:
  std::vector<Buffer> free_;
};

}  // namespace stackgate::http
