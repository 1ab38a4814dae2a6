#include "services/model/graph/layers.hpp"

#include <fmt/format.h>

namespace stackgate::model {

at::ScalarType scalar_type(Dtype type) {
  return type == Dtype::f32 ? at::kFloat : type == Dtype::f16 ? at::kHalf : at::kBFloat16;
}

at::Device torch_device(Device device) { return device == Device::cpu ? at::kCPU : at::kCUDA; }

namespace {

class Reader {
 public:
  Reader(const ModelDirectory& model, const Weights& weights, const TensorPlan& plan)
      : model_(model), weights_(weights), plan_(plan) {}

  at::Tensor matrix(const std::string& name) const {
    const at::Tensor stored = tensor(name);
    return stored.to(plan_.device, plan_.matrices.value_or(stored.scalar_type()));
  }
  at::Tensor floats(const std::string& name) const { return tensor(name).to(plan_.device, at::kFloat); }
  Linear linear(const std::string& module) const {
    Linear out{matrix(module + ".weight"), {}};
    if (model_.tensors.contains(module + ".bias")) out.bias = floats(module + ".bias");
    return out;
  }

 private:
  at::Tensor tensor(const std::string& name) const {
    const StoredTensor& stored = model_.tensors.find(name)->second;
    const std::span<const std::byte> bytes = weights_.bytes(stored);
    const std::vector<std::int64_t> shape(stored.place.shape.begin(), stored.place.shape.end());
    const at::TensorOptions options = at::TensorOptions().dtype(scalar_type(stored.place.dtype));
    // Read only: nothing writes to weights in place.
    void* const data = const_cast<std::byte*>(bytes.data());
    if (reinterpret_cast<std::uintptr_t>(data) % bytes_of(stored.place.dtype) == 0)
      return at::from_blob(data, shape, options);
    at::Tensor copy = at::empty(shape, options);
    std::memcpy(copy.data_ptr(), data, bytes.size());
    return copy;
  }

  const ModelDirectory& model_;
  const Weights& weights_;
  const TensorPlan& plan_;
};

}  // namespace

Matrix Linear::matrix() const {
  const at::ScalarType type = weight.scalar_type();
  return {weight.data_ptr(),
          type == at::kFloat  ? Dtype::f32
          : type == at::kHalf ? Dtype::f16
                              : Dtype::bf16,
          static_cast<std::size_t>(out()), static_cast<std::size_t>(in())};
}

Layers make_layers(const ModelDirectory& model, const Weights& weights, const TensorPlan& plan) {
  const Reader reader(model, weights, plan);
  Layers out{.config = model.config,
             .embedding = reader.matrix("model.embed_tokens.weight"),
             .layers = {},
             .norm = reader.floats("model.norm.weight"),
             .head = {}};
  out.head = model.config.tied_head ? Linear{out.embedding, {}} : reader.linear("lm_head");
  for (std::uint32_t i = 0; i < model.config.layers; ++i) {
    const std::string path = fmt::format("model.layers.{}.", i);
    Layer& layer = out.layers.emplace_back();
    layer.attention_norm = reader.floats(path + "input_layernorm.weight");
    layer.mlp_norm = reader.floats(path + "post_attention_layernorm.weight");
    for (const std::string_view name : module_names) layer.modules.push_back(reader.linear(path + std::string(name)));
  }
  return out;
}

}  // namespace stackgate::model
