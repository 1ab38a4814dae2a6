// What a step of an answering graph computes with. Sees libtorch.
#pragma once
#include <memory>
#include <span>

#include "services/model/graph/forward.hpp"
#include "services/model/graph/graph.hpp"

namespace stackgate::model {

/// For one step.
class StepOperations : public Operations {
 public:
  StepOperations() = default;
  virtual ~StepOperations() = default;
  StepOperations(const StepOperations&) = delete;
  StepOperations& operator=(const StepOperations&) = delete;
  /// Logits of some of the rows; `adapters`: one for each of them.
  virtual at::Tensor head(const at::Tensor& x, std::span<const AdapterWeights* const> adapters) = 0;
};

/// Keeps keys and values between steps.
class Stepping {
 public:
  Stepping() = default;
  virtual ~Stepping() = default;
  Stepping(const Stepping&) = delete;
  Stepping& operator=(const Stepping&) = delete;
  /// `sequences` must outlive what is returned.
  virtual std::unique_ptr<StepOperations> begin(std::span<const SequenceRows> sequences) = 0;
};

/// Both throw std::bad_alloc or c10::Error where there is no memory for so many pages.
///
/// Float32 on a CPU, by model/kernels: weights as they lie in the file. `model` outlives it.
std::unique_ptr<Stepping> step_by_kernels(const Layers& model, const GraphOptions& options);
/// Everywhere and in every type, by libtorch's operations: `model`'s matrices are on the device, in the type that is
/// computed in.
std::unique_ptr<Stepping> step_by_tensors(const Layers& model, const GraphOptions& options);

}  // namespace stackgate::model
