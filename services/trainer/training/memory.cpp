#include "services/trainer/training/memory.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/trainer/training/optimization.hpp"

namespace stackgate::trainer {

MemoryEstimate estimate_memory(const model::Config& config, const MemoryOf& of, bool gradient_checkpointing) {
  constexpr std::uint64_t bytes = sizeof(float), head = 64U << 20U;  // slices of logits
  const std::uint64_t query = std::uint64_t{config.heads} * config.head_width,
                      keys = std::uint64_t{config.key_value_heads} * config.head_width;
  // Of a token in a layer, what autograd keeps: norms and the stream, q, k and v and their rotations, the MLP.
  const std::uint64_t kept =
      8 * std::uint64_t{config.hidden} + 5 * query + 4 * keys + 4 * std::uint64_t{config.intermediate};
  const std::uint64_t scores = 2 * std::uint64_t{config.heads} * of.longest;
  const std::uint64_t layer = (kept + scores) * of.pass_tokens * bytes;
  MemoryEstimate out;
  out.weights = of.base_parameters * bytes;
  out.trained = of.trained_parameters * 4 * bytes;
  out.activations =
      head + (gradient_checkpointing ? layer + std::uint64_t{config.layers} * config.hidden * of.pass_tokens * bytes
                                     : layer * config.layers);
  return out;
}

std::uint64_t most_tokens_of_pass(const model::Hyperparameters& parameters, std::uint64_t longest) {
  const std::uint64_t step = parameters.batch_size * longest;
  const MicroBatches passes = passes_of(parameters, longest);
  return std::min({step, passes.tokens, passes.examples ? *passes.examples * longest : step});
}

std::optional<std::string> fault_of_memory(const MemoryEstimate& estimate, std::uint64_t limit) {
  if (estimate.sum() <= limit) return std::nullopt;
  const auto gigabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e9; };
  return fmt::format(
      "training takes about {:.1f} GB ({:.1f} for weights, {:.1f} for what is trained, {:.1f} for activations), and "
      "there "
      "are {:.1f} GB: turn gradient_checkpointing on, or lower micro_batch_size or max_seq_length",
      gigabytes(estimate.sum()), gigabytes(estimate.weights), gigabytes(estimate.trained),
      gigabytes(estimate.activations), gigabytes(limit));
}

}  // namespace stackgate::trainer
