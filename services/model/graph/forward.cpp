#include "services/model/graph/forward.hpp"

namespace stackgate::model {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& w, double epsilon) {
  return x.mul(x.square().mean(-1, true).add_(epsilon).rsqrt_()).mul(w);
}

at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines) {
  const std::int64_t half = x.size(-1) / 2;
  const at::Tensor first = x.narrow(-1, 0, half), second = x.narrow(-1, half, half);
  return at::cat({first.mul(cosines).sub(second.mul(sines)), second.mul(cosines).add(first.mul(sines))}, -1);
}

at::Tensor embedded(const Layers& model, const at::Tensor& ids) {
  return model.embedding.index_select(0, ids).to(at::kFloat);
}

at::Tensor layer_output(const Layers& model, std::size_t index, at::Tensor x, const at::Tensor& cosines,
                        const at::Tensor& sines, Operations& operations) {
  const Config& config = model.config;
  const std::int64_t rows = x.size(0), width = config.head_width;
  const auto linear = [&](Module module, const at::Tensor& input) { return operations.linear(index, module, input); };
  const Layer& layer = model.layers[index];
  at::Tensor h = rms_norm(x, layer.attention_norm, config.norm_epsilon);
  const at::Tensor q = linear(Module::query, h).view({rows, config.heads, width});
  const at::Tensor k = linear(Module::key, h).view({rows, config.key_value_heads, width});
  const at::Tensor v = linear(Module::value, h).view({rows, config.key_value_heads, width});
  const at::Tensor attended = operations.attend(index, rotate(q, cosines, sines), rotate(k, cosines, sines), v);
  x = x.add(linear(Module::output, attended));
  h = rms_norm(x, layer.mlp_norm, config.norm_epsilon);
  return x.add(linear(Module::down, at::silu(linear(Module::gate, h)).mul(linear(Module::up, h))));
}

at::Tensor hidden_states(const Layers& model, const at::Tensor& ids, const at::Tensor& cosines, const at::Tensor& sines,
                         Operations& operations) {
  at::Tensor x = embedded(model, ids);
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    x = layer_output(model, i, std::move(x), cosines, sines, operations);
  return rms_norm(x, model.norm, model.config.norm_epsilon);
}

}  // namespace stackgate::model
