#include "services/kit/json/document.hpp"

#include <algorithm>
#include <cstring>

namespace stackgate::json {

namespace {
constexpr std::size_t first_block = 4096;
constexpr std::size_t largest_growth = std::size_t{1} << 20U;
}  // namespace

void* Arena::allocate(std::size_t bytes, std::size_t alignment) {
  // operator new[] aligns blocks for every fundamental type, and nothing here asks for more.
  const std::size_t at = (at_ + alignment - 1) & ~(alignment - 1);
  if (!blocks_.empty() && at <= blocks_.back().size && bytes <= blocks_.back().size - at) {
    at_ = at + bytes;
    used_ += bytes;
    return blocks_.back().bytes.get() + at;
  }
  const std::size_t grown =
      blocks_.empty() ? first_block : std::min(largest_growth, std::max(first_block, blocks_.back().size * 2));
  Block block;
  block.size = std::max(grown, bytes);
  block.bytes = std::make_unique_for_overwrite<std::byte[]>(block.size);
  blocks_.push_back(std::move(block));
  at_ = bytes;
  used_ += bytes;
  return blocks_.back().bytes.get();
}

std::string_view Arena::copy(std::string_view text) {
  if (text.empty()) return {};
  char* out = static_cast<char*>(allocate(text.size(), 1));
  std::memcpy(out, text.data(), text.size());
  return {out, text.size()};
}

void Arena::reset() {
  if (blocks_.size() > 1) {
    const auto largest = std::max_element(blocks_.begin(), blocks_.end(),
                                          [](const Block& a, const Block& b) { return a.size < b.size; });
    std::swap(blocks_.front(), *largest);
    blocks_.erase(blocks_.begin() + 1, blocks_.end());
  }
  at_ = 0;
  used_ = 0;
}

}  // namespace stackgate::json
