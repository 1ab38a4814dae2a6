// The graph of the llama family, once, for serving and training: Llama, Mistral and Qwen2 differ in parameters only.
// How a product is computed, and what attends to what, is the caller's (Operations). Sees libtorch.
//
//   x = embed[ids]
//   each layer:  h = norm(x); q, k, v = h·Wᵀ; rope(q), rope(k); x += attend(q, k, v)·Woᵀ
//                h = norm(x); x += (silu(h·Wgᵀ) ∘ (h·Wuᵀ))·Wdᵀ
//   norm(x)
#pragma once
#include <cstddef>

#include <ATen/ATen.h>

#include "services/model/graph/layers.hpp"

namespace stackgate::model {

class Operations {
 public:
  /// x [rows, in] → [rows, out], bias and adapters included.
  virtual at::Tensor linear(std::size_t layer, Module module, const at::Tensor& x) = 0;
  /// q [rows, heads, width], k and v [rows, key_value_heads, width], rotated → [rows, heads * width].
  virtual at::Tensor attend(std::size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) = 0;

 protected:
  ~Operations() = default;
};

/// w ∘ x / sqrt(mean(x²) + epsilon), over the last dimension.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& w, double epsilon);

/// The half-split form. x [rows, heads, width]; cosines and sines [rows, 1, width / 2], of each row's position.
at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines);

/// ids [rows] (int64) → [rows, hidden], float32.
at::Tensor embedded(const Layers& model, const at::Tensor& ids);

/// One layer: x [rows, hidden] → [rows, hidden].
at::Tensor layer_output(const Layers& model, std::size_t index, at::Tensor x, const at::Tensor& cosines,
                        const at::Tensor& sines, Operations& operations);

/// All of it: ids [rows] (int64) → the final hidden states [rows, hidden], normed.
at::Tensor hidden_states(const Layers& model, const at::Tensor& ids, const at::Tensor& cosines, const at::Tensor& sines,
                         Operations& operations);

}  // namespace stackgate::model
