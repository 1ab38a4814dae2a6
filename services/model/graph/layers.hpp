// A model's weights as tensors, without copying them: the mapped file is their memory. Sees libtorch.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "services/model/directory/model_directory.hpp"
#include "services/model/kernels/kernels.hpp"
#include "services/model/loading/weights.hpp"
#include "services/model/modules.hpp"

namespace stackgate::model {

/// y = x · weightᵀ + bias
struct Linear {
  at::Tensor weight;  // [out, in], in the file's type
  at::Tensor bias;    // [out] float32; undefined: none
  std::int64_t out() const { return weight.size(0); }
  std::int64_t in() const { return weight.size(1); }
  /// The same memory for the kernels.
  Matrix matrix() const;
};

struct Layer {
  at::Tensor attention_norm, mlp_norm;  // float32
  std::vector<Linear> modules;          // by Module
  const Linear& operator[](Module module) const { return modules[static_cast<std::size_t>(module)]; }
};

struct Layers {
  Config config;
  at::Tensor embedding;  // [vocabulary, hidden], in the file's type
  std::vector<Layer> layers;
  at::Tensor norm;  // float32
  Linear head;      // the embedding where the head is tied
};

/// The tensors' memory is that of `weights`, which must outlive them; what is not aligned is copied. All of
/// expected_tensors() is there (ModelDirectory).
Layers make_layers(const ModelDirectory& model, const Weights& weights);

}  // namespace stackgate::model
