// The graph's operations when it answers on a CPU: weights as they lie in the file, adapters per sequence, attention
// over pages, all by model/kernels. Sees libtorch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "services/model/graph/pages.hpp"
#include "services/model/graph/step_operations.hpp"

namespace stackgate::model {

class Serving final : public StepOperations {
 public:
  Serving(const Layers& model, Pages& pages, std::span<const SequenceRows> sequences);

  at::Tensor linear(std::size_t layer, Module module, const at::Tensor& x) override;
  at::Tensor attend(std::size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) override;
  at::Tensor head(const at::Tensor& x, std::span<const AdapterWeights* const> adapters) override;

 private:
  /// Rows that follow each other and share an adapter.
  struct Run {
    std::size_t first = 0, count = 0;
    const AdapterWeights* adapter = nullptr;
  };
  static std::vector<Run> runs_of(std::span<const AdapterWeights* const> adapters);
  void store(std::size_t layer, const at::Tensor& k, const at::Tensor& v);

  const Layers& model_;
  Pages& pages_;
  const std::span<const SequenceRows> sequences_;
  std::vector<Run> runs_;  // empty: nobody has an adapter
};

/// x · wᵀ + bias: few rows by the kernels, many by the BLAS, on float32 made of the weight piece by piece.
at::Tensor product(const Linear& linear, const at::Tensor& x);

}  // namespace stackgate::model
