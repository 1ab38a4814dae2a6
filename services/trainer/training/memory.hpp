// How much memory a run takes, before it begins. Pure; a few tenths off either way.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "services/model/directory/config.hpp"
#include "services/model/hyperparameters/hyperparameters.hpp"

namespace stackgate::trainer {

struct MemoryEstimate {
  std::uint64_t weights = 0;      // bytes of the base in float32
  std::uint64_t trained = 0;      // values, gradients, two moments
  std::uint64_t activations = 0;  // of the largest pass
  std::uint64_t sum() const { return weights + trained + activations; }
};

struct MemoryOf {
  std::uint64_t base_parameters = 0, trained_parameters = 0;
  std::uint64_t longest = 0;      // tokens of the longest example
  std::uint64_t pass_tokens = 0;  // of the largest pass
};

MemoryEstimate estimate_memory(const model::Config& config, const MemoryOf& of, bool gradient_checkpointing);

/// The most tokens that go through the model together.
std::uint64_t most_tokens_of_pass(const model::Hyperparameters& parameters, std::uint64_t longest);

/// A sentence with both numbers and what helps, where it does not fit.
std::optional<std::string> fault_of_memory(const MemoryEstimate& estimate, std::uint64_t limit);

}  // namespace stackgate::trainer
