// A model's weights as tensors: the mapped file is their memory, or that of a device. Sees libtorch.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "services/model/directory/model_directory.hpp"
#include "services/model/directory/placement.hpp"
#include "services/model/kernels/kernels.hpp"
#include "services/model/loading/weights.hpp"
#include "services/model/modules.hpp"

namespace stackgate::model {

/// y = x · weightᵀ + bias
struct Linear {
  at::Tensor weight;  // [out, in], in the file's type or that of TensorPlan
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
  at::Tensor embedding;  // [vocabulary, hidden], as the matrices
  std::vector<Layer> layers;
  at::Tensor norm;  // float32
  Linear head;      // the embedding where the head is tied
};

at::ScalarType scalar_type(Dtype type);
at::Device torch_device(Device device);

/// Where tensors go, and what type matrices become; without a type they stay as they are.
struct TensorPlan {
  at::Device device = at::kCPU;
  std::optional<at::ScalarType> matrices{};
};

/// What needs neither another type nor a device is in the memory of `weights`, which must outlive it; what is not
/// aligned is copied. All of expected_tensors() is there (ModelDirectory).
Layers make_layers(const ModelDirectory& model, const Weights& weights, const TensorPlan& plan = {});

}  // namespace stackgate::model
