#include "services/trainer/learn/training.hpp"

#include <cmath>
#include <limits>

#include "services/trainer/data/random.hpp"

namespace stackgate::trainer {

Training::Training(const model::Layers& model, const LoraLayers& lora, double scale, double dropout,
                   std::span<const LearnedExample> examples)
    : model_(model), lora_(lora), scale_(scale), dropout_(dropout), examples_(examples) {
  for (const LearnedExample& each : examples) lengths_.push_back(static_cast<std::int64_t>(each.ids.size()));
}

at::Tensor Training::dropout_mask(std::size_t layer, model::Module module, std::int64_t width) const {
  std::int64_t rows = 0;
  for (const std::int64_t each : lengths_) rows += each;
  at::Tensor out = at::empty({rows, width}, at::kFloat);
  auto* at = out.data_ptr<float>();
  const auto kept = static_cast<float>(1 / (1 - dropout_));
  for (const LearnedExample& each : examples_)
    for (std::size_t token = 0; token < each.ids.size(); ++token) {
      const std::uint64_t key = key_of(each.dropout_key, layer, module, token);
      for (std::int64_t i = 0; i < width; ++i)
        *at++ = uniform(key, static_cast<std::uint64_t>(i)) < dropout_ ? 0 : kept;
    }
  return out.to(model_.embedding.device());
}

at::Tensor Training::linear(std::size_t layer, model::Module module, const at::Tensor& x) {
  const model::Linear& base = model_.layers[layer][module];
  at::Tensor y = base.bias.defined() ? at::addmm(base.bias, x, base.weight.t()) : at::mm(x, base.weight.t());
  if (lora_.empty()) return y;
  const LoraPair& pair = lora_[layer][static_cast<std::size_t>(module)];
  if (!pair.a.defined()) return y;
  const at::Tensor input = dropout_ > 0 ? x.mul(dropout_mask(layer, module, base.in())) : x;
  return y.addmm_(at::mm(input, pair.a.t()), pair.b.t(), 1, scale_);
}

/// -∞ where a query must not look: [queries that share keys * length, length].
const at::Tensor& Training::mask(std::int64_t length) {
  at::Tensor& found = masks_[length];
  if (!found.defined())
    found =
        at::full({length, length}, -std::numeric_limits<float>::infinity(), model_.norm.options().requires_grad(false))
            .triu_(1)
            .repeat({model_.config.heads / model_.config.key_value_heads, 1});
  return found;
}

at::Tensor Training::attend(std::size_t, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const std::int64_t groups = model_.config.key_value_heads, shared = model_.config.heads / groups;
  const std::int64_t width = model_.config.head_width;
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  const auto queries = q.split_with_sizes(lengths_), keys = k.split_with_sizes(lengths_),
             values = v.split_with_sizes(lengths_);
  std::vector<at::Tensor> out;
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    const std::int64_t n = lengths_[i];
    // Queries that share keys lie together: [groups, shared * n, width].
    const at::Tensor query =
        queries[i].view({n, groups, shared, width}).permute({1, 2, 0, 3}).reshape({groups, shared * n, width});
    const at::Tensor scores = at::baddbmm(mask(n), query, keys[i].permute({1, 2, 0}), 1, scale);
    const at::Tensor mixed = at::bmm(scores.softmax(-1), values[i].transpose(0, 1));
    out.push_back(mixed.view({groups, shared, n, width}).permute({2, 0, 1, 3}).reshape({n, groups * shared * width}));
  }
  return out.size() == 1 ? out.front() : at::cat(out);
}

}  // namespace stackgate::trainer
