// The graph's operations when it answers on a GPU, or in another type than float32: plain tensors, adapters as matrices
// on the device, attention over gathered pages. Sees libtorch.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "services/model/graph/step_operations.hpp"

namespace stackgate::model {

/// Keys and values on the device: for each layer one tensor of [blocks * block_tokens, key_value_heads, head_width].
struct TensorPages {
  std::vector<at::Tensor> keys, values;
  std::int64_t block_tokens = 0;
};

class TensorServing final : public StepOperations {
 public:
  TensorServing(const Layers& model, TensorPages& pages, std::span<const SequenceRows> sequences);

  at::Tensor linear(std::size_t layer, Module module, const at::Tensor& x) override;
  at::Tensor attend(std::size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) override;
  at::Tensor head(const at::Tensor& x, std::span<const AdapterWeights* const> adapters) override;

 private:
  /// The rows of one adapter.
  struct Adapted {
    const AdapterWeights* adapter = nullptr;
    at::Tensor rows;  // int64, on the device
  };
  /// Queries that are computed together: as many tokens of each of some sequences.
  struct Together {
    std::int64_t sequences = 0, tokens = 0, longest = 0;
    at::Tensor rows;    // [sequences * tokens], of the batch
    at::Tensor places;  // [sequences * longest], in the pages; padded with a place that the mask hides
    at::Tensor mask;    // [sequences, 1, 1, tokens, longest] float32: -∞ where a token must not look
  };
  /// Tokens [first, first + count) of a sequence whose first row is `row`.
  struct Part {
    std::size_t sequence = 0, row = 0, first = 0, count = 0;
  };

  std::vector<Adapted> adapted_rows(std::span<const AdapterWeights* const> adapters) const;
  at::Tensor product(const Linear& linear, const at::Tensor& x) const;
  void plan_attention();
  void add_together(std::span<const Part> parts);
  std::int64_t place(const SequenceRows& sequence, std::size_t position) const;
  at::Tensor on_device(const std::vector<std::int64_t>& numbers) const;
  at::Tensor attended(std::size_t layer, const Together& together, const at::Tensor& q) const;

  const Layers& model_;
  TensorPages& pages_;
  const std::span<const SequenceRows> sequences_;
  std::vector<Adapted> adapted_;  // empty: nobody has an adapter
  at::Tensor written_;            // places of the step's tokens
  std::vector<Together> together_;
};

}  // namespace stackgate::model
