// Which examples a step takes, in which order, and which of them go through the model together. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace stackgate::trainer {

/// 0 … count - 1, shuffled by (seed, epoch) alone.
std::vector<std::uint32_t> permutation(std::uint64_t seed, std::uint64_t epoch, std::uint32_t count);

/// Indices into what it was given; all of them go through the model at once.
using MicroBatch = std::vector<std::uint32_t>;

struct MicroBatches {
  std::optional<std::uint32_t> examples{};  // at most so many together; absent: no limit
  std::uint64_t tokens = 0;                 // at most so many together, but for an example that is longer by itself
  bool packed = false;                      // each goes where it fits first, instead of one after the other
};

/// Of one step's examples, by their lengths in tokens.
std::vector<MicroBatch> micro_batches(std::span<const std::uint32_t> lengths, const MicroBatches& how);

}  // namespace stackgate::trainer
