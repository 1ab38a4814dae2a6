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

at::Tensor hidden_states(const Layers& model, const at::Tensor& ids, const at::Tensor& cosines, const at::Tensor& sines,
                         Operations& operations) {
  const Config& config = model.config;
  const std::int64_t rows = ids.size(0), width = config.head_width;
  at::Tensor x = model.embedding.index_select(0, ids).to(at::kFloat);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const auto linear = [&](Module module, const at::Tensor& input) { return operations.linear(i, module, input); };
    const Layer& layer = model.layers[i];
    at::Tensor h = rms_norm(x, layer.attention_norm, config.norm_epsilon);
    const at::Tensor q = linear(Module::query, h).view({rows, config.heads, width});
    const at::Tensor k = linear(Module::key, h).view({rows, config.key_value_heads, width});
    const at::Tensor v = linear(Module::value, h).view({rows, config.key_value_heads, width});
    const at::Tensor attended = operations.attend(i, rotate(q, cosines, sines), rotate(k, cosines, sines), v);
    x = x.add(linear(Module::output, attended));
    h = rms_norm(x, layer.mlp_norm, config.norm_epsilon);
    x = x.add(linear(Module::down, at::silu(linear(Module::gate, h)).mul(linear(Module::up, h))));
  }
  return rms_norm(x, model.norm, config.norm_epsilon);
}

}  // namespace stackgate::model
