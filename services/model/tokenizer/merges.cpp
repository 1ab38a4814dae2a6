#include "services/model/tokenizer/merges.hpp"

#include <bit>

namespace stackgate::tokenizer {

MergeTable::MergeTable(std::span<const Merge> merges) {
  slots_.resize(std::bit_ceil(merges.size() * 3 / 2 + 1));
  for (const Merge& merge : merges)
    seed_ = (seed_ ^ (std::uint64_t{merge.left} << 32U | merge.right)) * 0xD6E8FEB86659FD93U + (seed_ >> 31U);
  for (std::uint32_t rank = 0; rank < merges.size(); ++rank) {
    const std::uint64_t pair = std::uint64_t{merges[rank].left} << 32U | merges[rank].right;
    std::size_t slot = first_slot(pair);
    while (slots_[slot].found.rank != none && slots_[slot].pair != pair) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = {pair, {rank, merges[rank].result}};
  }
}

std::size_t MergeTable::first_slot(std::uint64_t pair) const {
  const std::uint64_t hash = (pair ^ seed_) * 0x9E3779B97F4A7C15U;
  return (hash ^ hash >> 32U ^ hash >> 45U) & (slots_.size() - 1);
}

MergeTable::Found MergeTable::find(std::uint32_t left, std::uint32_t right) const {
  if (slots_.empty()) return {};
  const std::uint64_t pair = std::uint64_t{left} << 32U | right;
  for (std::size_t slot = first_slot(pair); slots_[slot].found.rank != none; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].pair == pair) return slots_[slot].found;
  }
  return {};
}

}  // namespace stackgate::tokenizer
