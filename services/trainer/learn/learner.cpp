#include "services/trainer/learn/learner.hpp"

#include <algorithm>
#include <new>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/model/graph/device.hpp"
#include "services/model/graph/rope.hpp"
#include "services/model/graph/threads.hpp"
#include "services/trainer/learn/training.hpp"

namespace stackgate::trainer {
namespace learner_detail {

constexpr std::int64_t logits_at_once = 4 << 20;  // floats: 16 MiB

/// Which rows foretell trained tokens, and these.
struct Targets {
  std::vector<std::int64_t> rows, ids;
};

Targets targets_of(std::span<const LearnedExample> examples) {
  Targets out;
  std::int64_t first = 0;
  for (const LearnedExample& each : examples) {
    for (const TokenRange& range : each.trained)
      for (std::uint32_t i = range.begin; i < range.end; ++i) {
        out.rows.push_back(first + i - 1);
        out.ids.push_back(each.ids[i]);
      }
    first += static_cast<std::int64_t>(each.ids.size());
  }
  return out;
}

/// The sum of -log p; with `gradient`, its gradient by `states`, times `factor`, and by the head's weight where that is
/// trained. Slices of the vocabulary's logits live only here.
double head_loss(const model::Linear& head, const at::Tensor& states, const std::vector<std::int64_t>& targets,
                 at::Tensor* gradient, double factor) {
  const at::NoGradGuard no_grad;
  const at::Tensor ids = at::tensor(targets).unsqueeze(1).to(states.device());
  const std::int64_t rows = states.size(0), slice = std::clamp<std::int64_t>(logits_at_once / head.out(), 32, 1024);
  double sum = 0;
  if (gradient != nullptr) *gradient = at::empty_like(states);
  for (std::int64_t begin = 0; begin < rows; begin += slice) {
    const std::int64_t count = std::min(slice, rows - begin);
    const at::Tensor some = states.narrow(0, begin, count), target = ids.narrow(0, begin, count);
    at::Tensor logits = at::mm(some, head.weight.t());
    logits.sub_(logits.amax(1, true));
    const at::Tensor own = logits.gather(1, target), all = logits.exp_().sum(1, true);
    sum += all.log().sub_(own).sum(at::kDouble).item<double>();
    if (gradient == nullptr) continue;
    logits.mul_(all.reciprocal().mul_(factor)).scatter_add_(1, target, at::full({count, 1}, -factor, states.options()));
    at::Tensor part = gradient->narrow(0, begin, count);
    at::mm_out(part, logits, head.weight);
    if (head.weight.requires_grad()) {
      at::Tensor whole = head.weight.grad();
      whole.addmm_(logits.t(), some);
    }
  }
  return sum;
}

template <class Work>
auto guarded(const Work& work) -> std::expected<decltype(work()), std::string> {
  try {
    return work();
  } catch (const c10::Error& error) {
    return std::unexpected(std::string("libtorch: ") + error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return std::unexpected("there is not enough memory");
  }
}

std::vector<Parameter> parameters_of(const model::Config& config, const LearnerSettings& settings) {
  return settings.everything ? all_parameters(config) : lora_parameters(config, settings.lora);
}

}  // namespace learner_detail

class TorchLearner final : public Learner {
 public:
  TorchLearner(const model::ModelDirectory& model, const model::Weights& weights, const LearnerSettings& settings,
               at::Device device)
      : parameters_(learner_detail::parameters_of(model.config, settings)),
        settings_(settings),
        device_(device),
        layers_(model::make_layers(model, weights, {.device = device, .matrices = at::kFloat})) {
    const std::size_t count = parameters_.empty() ? 0 : parameters_.back().offset + parameters_.back().count;
    values_.resize(count);
    gradients_.resize(count);
    const at::TensorOptions options = at::TensorOptions().device(device);
    computed_values_ = is_apart() ? at::zeros(array(values_).sizes(), options) : array(values_);
    computed_gradients_ = is_apart() ? at::zeros(array(values_).sizes(), options) : array(gradients_);
    if (settings.everything)
      train_all();
    else
      train_lora();
    if (model.config.tied_head) layers_.head.weight = layers_.embedding;
    const model::RopeTables tables = model::rope_tables(model.config, settings.positions);
    const std::int64_t half = std::int64_t{model.config.head_width / 2};
    cosines_ = at::tensor(at::ArrayRef<float>(tables.cosines)).view({settings.positions, 1, half}).to(device);
    sines_ = at::tensor(at::ArrayRef<float>(tables.sines)).view({settings.positions, 1, half}).to(device);
  }

  const std::vector<Parameter>& parameters() const override { return parameters_; }
  std::span<float> values() override { return values_; }
  std::span<float> gradients() override { return gradients_; }

  std::expected<double, std::string> learn(std::span<const LearnedExample> examples, double factor) override {
    return learner_detail::guarded([&] {
      fetch(computed_values_, values_);
      fetch(computed_gradients_, gradients_);
      const double sum = learn_pass(examples, factor);
      if (is_apart()) array(gradients_).copy_(computed_gradients_);
      return sum;
    });
  }
  std::expected<double, std::string> loss(std::span<const LearnedExample> examples) override {
    return learner_detail::guarded([&] {
      fetch(computed_values_, values_);
      return loss_of(examples);
    });
  }
  std::expected<std::vector<float>, std::string> logits(std::span<const std::uint32_t> ids) override {
    return learner_detail::guarded([&] {
      fetch(computed_values_, values_);
      return logits_of(ids);
    });
  }

 private:
  static at::Tensor array(std::vector<float>& values) {
    return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::kFloat);
  }
  /// Whether what is trained is computed with in other memory than the caller's.
  bool is_apart() const { return settings_.apart || !device_.is_cpu(); }
  void fetch(at::Tensor& computed, std::vector<float>& values) const {
    const at::NoGradGuard no_grad;
    if (is_apart()) computed.copy_(array(values));
  }
  at::Tensor on_device(const std::vector<std::int64_t>& numbers) const { return at::tensor(numbers).to(device_); }

  double learn_pass(std::span<const LearnedExample> examples, double factor) {
    const learner_detail::Targets targets = learner_detail::targets_of(examples);
    Training operations(layers_, lora_, settings_.lora.scale, settings_.lora.dropout, examples);
    const at::Tensor rows = on_device(targets.rows);
    at::Tensor gradient;
    if (settings_.gradient_checkpointing && !settings_.everything)
      return learn_again(examples, targets, factor, operations);
    const at::Tensor states = hidden(examples, operations).index_select(0, rows);
    const double sum = learner_detail::head_loss(layers_.head, states.detach(), targets.ids, &gradient, factor);
    states.backward(gradient);
    return sum;
  }

  double loss_of(std::span<const LearnedExample> examples) {
    const at::NoGradGuard no_grad;
    const learner_detail::Targets targets = learner_detail::targets_of(examples);
    Training operations(layers_, lora_, settings_.lora.scale, 0, examples);
    const at::Tensor states = hidden(examples, operations).index_select(0, on_device(targets.rows));
    return learner_detail::head_loss(layers_.head, states, targets.ids, nullptr, 0);
  }

  std::vector<float> logits_of(std::span<const std::uint32_t> ids) {
    const at::NoGradGuard no_grad;
    const LearnedExample example{.ids = ids, .trained = {}};
    Training operations(layers_, lora_, settings_.lora.scale, 0, {&example, 1});
    const at::Tensor out = at::mm(hidden({&example, 1}, operations), layers_.head.weight.t()).to(at::kCPU);
    return {out.data_ptr<float>(), out.data_ptr<float>() + out.numel()};
  }

  struct Input {
    at::Tensor ids, cosines, sines;
  };

  Input input(std::span<const LearnedExample> examples) const {
    std::vector<std::int64_t> ids, positions;
    for (const LearnedExample& each : examples)
      for (std::size_t i = 0; i < each.ids.size(); ++i) {
        ids.push_back(each.ids[i]);
        positions.push_back(static_cast<std::int64_t>(i));
      }
    const at::Tensor places = on_device(positions);
    return {on_device(ids), cosines_.index_select(0, places), sines_.index_select(0, places)};
  }

  at::Tensor hidden(std::span<const LearnedExample> examples, Training& operations) const {
    const Input in = input(examples);
    return model::hidden_states(layers_, in.ids, in.cosines, in.sines, operations);
  }

  /// Keeps only what goes into each layer; on the way back each layer is computed once more.
  double learn_again(std::span<const LearnedExample> examples, const learner_detail::Targets& targets, double factor,
                     Training& operations) {
    const Input in = input(examples);
    std::vector<at::Tensor> inputs;
    {
      const at::NoGradGuard no_grad;
      inputs.push_back(model::embedded(layers_, in.ids));
      for (std::size_t i = 0; i < layers_.layers.size(); ++i)
        inputs.push_back(model::layer_output(layers_, i, inputs.back(), in.cosines, in.sines, operations));
    }
    at::Tensor last = inputs.back().detach().set_requires_grad(true), gradient;
    inputs.pop_back();
    const at::Tensor states =
        model::rms_norm(last, layers_.norm, layers_.config.norm_epsilon).index_select(0, on_device(targets.rows));
    const double sum = learner_detail::head_loss(layers_.head, states.detach(), targets.ids, &gradient, factor);
    states.backward(gradient);
    gradient = last.grad();
    while (!inputs.empty()) {
      const std::size_t i = inputs.size() - 1;
      const at::Tensor leaf = inputs.back().detach().set_requires_grad(i > 0);
      inputs.pop_back();
      model::layer_output(layers_, i, leaf, in.cosines, in.sines, operations).backward(gradient);
      gradient = leaf.grad();
    }
    return sum;
  }

  /// A tensor over its part of the values that gathers its gradient in that of the gradients.
  at::Tensor leaf(const Parameter& parameter) {
    const std::vector<std::int64_t> shape(parameter.shape.begin(), parameter.shape.end());
    const auto part = [&](const at::Tensor& whole) {
      const auto offset = static_cast<std::int64_t>(parameter.offset),
                 count = static_cast<std::int64_t>(parameter.count);
      return whole.narrow(0, offset, count).view(shape).detach();
    };
    at::Tensor out = part(computed_values_);
    out.set_requires_grad(true);
    out.mutable_grad() = part(computed_gradients_);
    return out;
  }

  /// The name in the file, and the tensor; not of a tied head.
  template <class Use>
  void for_all_weights(const Use& use) {
    use("model.embed_tokens.weight", layers_.embedding);
    for (std::size_t i = 0; i < layers_.layers.size(); ++i) {
      model::Layer& layer = layers_.layers[i];
      const std::string path = fmt::format("model.layers.{}.", i);
      use(path + "input_layernorm.weight", layer.attention_norm);
      use(path + "post_attention_layernorm.weight", layer.mlp_norm);
      for (std::size_t m = 0; m < model::module_names.size(); ++m) {
        const std::string module = path + std::string(model::module_names[m]);
        use(module + ".weight", layer.modules[m].weight);
        if (layer.modules[m].bias.defined()) use(module + ".bias", layer.modules[m].bias);
      }
    }
    use("model.norm.weight", layers_.norm);
    if (!layers_.config.tied_head) use("lm_head.weight", layers_.head.weight);
  }

  void train_all() {
    for_all_weights([&](const std::string& name, at::Tensor& weight) {
      const Parameter& parameter = *std::ranges::find(parameters_, name, &Parameter::name);
      const at::Tensor from = weight.to(at::kCPU).contiguous();
      std::copy_n(from.data_ptr<float>(), parameter.count, values_.data() + parameter.offset);
      weight = leaf(parameter);
    });
  }

  void train_lora() {
    lora_.resize(layers_.layers.size());
    std::size_t next = 0;
    for (auto& layer : lora_)
      for (const model::Module module : settings_.lora.modules) {
        LoraPair& pair = layer[static_cast<std::size_t>(module)];
        pair.a = leaf(parameters_[next]);
        pair.b = leaf(parameters_[next + 1]);
        next += 2;
      }
  }

  const std::vector<Parameter> parameters_;
  std::vector<float> values_, gradients_;
  const LearnerSettings settings_;
  const at::Device device_;
  at::Tensor computed_values_, computed_gradients_;  // the same memory, unless is_apart()
  model::Layers layers_;
  LoraLayers lora_;
  at::Tensor cosines_, sines_;  // [positions, 1, head_width / 2]
};

std::expected<std::unique_ptr<Learner>, std::string> Learner::open(const model::ModelDirectory& model,
                                                                   const model::Weights& weights,
                                                                   const LearnerSettings& settings) {
  const model::Device device = TRY(model::usable_device(settings.device));
  model::use_threads(settings.threads);
  return learner_detail::guarded([&] {
    return std::unique_ptr<Learner>(new TorchLearner(model, weights, settings, model::torch_device(device)));
  });
}

}  // namespace stackgate::trainer
