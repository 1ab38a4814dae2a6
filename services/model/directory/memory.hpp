// How much memory a model takes before its first request, and how much each token of a conversation takes. Pure.
#pragma once
#include <array>
#include <cstdint>

#include "services/model/directory/model_directory.hpp"
#include "services/model/directory/placement.hpp"

namespace stackgate::model {

struct MemoryNeeded {
  std::array<std::uint64_t, 3> weights{};  // bytes by Dtype, as they lie in the files: mapped, shared between processes
  std::uint64_t cache_per_token = 0;       // bytes of keys and values of one position in all layers

  std::uint64_t all_weights() const { return weights[0] + weights[1] + weights[2]; }
};

/// `cache`: what keys and values are kept as.
MemoryNeeded memory_needed(const ModelDirectory& model, Dtype cache = Dtype::f32);

/// Bytes of weights that are not used as they are mapped, but copied: to another type, or to a GPU. Float32 on a CPU
/// reads matrices of every type where they lie.
std::uint64_t copied_weights(const ModelDirectory& model, const Placement& placement);

}  // namespace stackgate::model
