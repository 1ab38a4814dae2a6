// The graph's operations when it learns: differentiable, with a LoRA beside each module, attention within each example.
// Sees libtorch.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "services/model/graph/forward.hpp"
#include "services/trainer/learn/learner.hpp"

namespace stackgate::trainer {

struct LoraPair {
  at::Tensor a, b;  // [rank, in], [out, rank]; undefined: the module has none
};
using LoraLayers = std::vector<std::array<LoraPair, model::module_names.size()>>;

/// For one pass over some examples, whose rows lie one after the other.
class Training final : public model::Operations {
 public:
  /// All must outlive it. `dropout` 0: none.
  Training(const model::Layers& model, const LoraLayers& lora, double scale, double dropout,
           std::span<const LearnedExample> examples);

  at::Tensor linear(std::size_t layer, model::Module module, const at::Tensor& x) override;
  at::Tensor attend(std::size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) override;

 private:
  at::Tensor dropout_mask(std::size_t layer, model::Module module, std::int64_t width) const;
  const at::Tensor& mask(std::int64_t length);

  const model::Layers& model_;
  const LoraLayers& lora_;
  double scale_, dropout_;
  std::span<const LearnedExample> examples_;
  std::vector<std::int64_t> lengths_;
  std::map<std::int64_t, at::Tensor> masks_;
};

}  // namespace stackgate::trainer
