// The merges of a BPE model: which two tokens become one, and in which order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stackgate::tokenizer {

struct Merge {
  std::uint32_t left = 0, right = 0, result = 0;
};

/// An open-addressing table from a pair of ids to its rank and result, 16 bytes a slot. Const after construction.
class MergeTable {
 public:
  struct Found {
    std::uint32_t rank = none;
    std::uint32_t result = 0;
  };
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  MergeTable() = default;
  /// In the order of their ranks. Of equal pairs the last one counts.
  explicit MergeTable(std::span<const Merge> merges);

  /// rank == none where the two do not merge.
  Found find(std::uint32_t left, std::uint32_t right) const;

  std::size_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint64_t pair = ~std::uint64_t{0};
    Found found;
  };
  std::size_t first_slot(std::uint64_t pair) const;

  std::vector<Slot> slots_;
  std::uint64_t seed_ = 0;  // of all pairs together: a file cannot choose pairs that meet in one slot
};

}  // namespace stackgate::tokenizer
