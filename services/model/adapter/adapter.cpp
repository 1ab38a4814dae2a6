#include "services/model/adapter/adapter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/peft/tensors.hpp"
#include "services/model/adapter/serving_config.hpp"
#include "services/model/directory/tensors.hpp"

namespace stackgate::model {
namespace {

constexpr std::array<std::string_view, 8> linear_names{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                                       "self_attn.o_proj", "mlp.gate_proj",    "mlp.up_proj",
                                                       "mlp.down_proj",    "lm_head"};

struct Place {
  std::uint32_t layer = 0;
  Linear linear = Linear::query;
  std::uint64_t in = 0, out = 0;
};

/// The base's linear modules by path: "model.layers.0.self_attn.q_proj".
std::map<std::string, Place, std::less<>> places_of(const Config& base) {
  std::map<std::string, Place, std::less<>> out;
  constexpr std::string_view ending = ".weight";
  for (const ExpectedTensor& each : expected_tensors(base)) {
    if (!each.name.ends_with(ending)) continue;
    const std::string module = each.name.substr(0, each.name.size() - ending.size());
    const auto* const named =
        std::ranges::find_if(linear_names, [&](auto name) { return peft::is_called(module, name); });
    if (named == linear_names.end()) continue;
    out[module] = {static_cast<std::uint32_t>(peft::layer_of(module).value_or(0)),
                   static_cast<Linear>(named - linear_names.begin()), each.shape[1], each.shape[0]};
  }
  // A tied head has no weights of its own, and may have an adapter.
  out["lm_head"] = {0, Linear::head, base.hidden, base.vocabulary};
  return out;
}

class Check {
 public:
  Check(const Config& base, const safetensors::FileHeader& weights, const ServingConfig& config, AdapterRead& out)
      : base_(base), weights_(weights), config_(config), places_(places_of(base)), out_(out) {}

  void run() {
    for (const safetensors::Tensor& each : weights_.header.tensors) tensors_.emplace(each.name, &each);
    peft::Tensors read = peft::check_tensors(weights_.header, config_.lora);
    std::ranges::move(read.findings, std::back_inserter(out_.findings));
    for (const auto& [path, module] : read.modules) look_at(path, module);
    std::ranges::move(findings_, std::back_inserter(out_.findings));
    std::ranges::sort(out_.adapter.modules, {}, [](const AdapterModule& each) {
      return std::tuple(each.linear == Linear::head, each.layer, each.linear);
    });
  }

 private:
  static std::string tensor_name(std::string_view module, char side) {
    return fmt::format("base_model.model.{}.lora_{}.weight", module, side);
  }
  void wrong(std::string_view rule, std::string_view tensor, std::string problem, std::string fix) {
    peft::add(findings_, rule, fmt::format("adapter[adapter_model.safetensors][{}]", tensor), std::move(problem),
              std::move(fix));
  }

  void look_at(const std::string& path, const peft::Module& module) {
    const auto place = places_.find(path);
    if (module.embedding || place == places_.end()) return unserved(path, module);
    const std::string a = tensor_name(path, 'A'), b = tensor_name(path, 'B');
    if (const std::string_view field = config_.excludes(path); !field.empty())
      wrong("adapter-weights-target", a, fmt::format("belongs to \"{}\", which {} leaves out", path, field),
            "take the configuration that these weights were trained with");
    shape(a, {static_cast<std::uint64_t>(module.rank), place->second.in}, {0, module.in});
    shape(b, {place->second.out, static_cast<std::uint64_t>(module.rank)}, {module.out, 0});
    if (module.rank == 0) wrong("adapter-weights-rank", a, "has rank 0", "train with r of 1 or more");
    const auto rank = static_cast<double>(module.rank);
    const double scale = config_.alpha_of(path) / (config_.lora.rslora ? std::sqrt(rank) : rank);
    out_.adapter.modules.push_back({place->second.layer, place->second.linear, static_cast<std::uint32_t>(module.rank),
                                    scale, where(a), where(b)});
    out_.adapter.largest_rank = std::max(out_.adapter.largest_rank, static_cast<std::uint32_t>(module.rank));
  }

  /// `has`: 0 where the rank stands, which kit/peft has looked at.
  void shape(const std::string& tensor, std::array<std::uint64_t, 2> wanted, std::array<std::uint64_t, 2> has) {
    const std::size_t side = has[0] == 0 ? 1 : 0;
    if (has[side] == wanted[side]) return;
    has[1 - side] = wanted[1 - side];
    wrong("adapter-weights-base", tensor,
          fmt::format("has the shape [{}] where the base wants [{}]", fmt::join(has, ", "), fmt::join(wanted, ", ")),
          "take an adapter of this base model");
  }

  void unserved(const std::string& path, const peft::Module& module) {
    const std::string tensor =
        module.embedding ? fmt::format("base_model.model.{}.lora_embedding_A", path) : tensor_name(path, 'A');
    const auto layer = peft::layer_of(path);
    if (peft::is_called(path, "embed_tokens"))
      return wrong("adapter-not-servable", tensor, "changes the embedding: it is looked up, not multiplied",
                   "train linear modules and lm_head only");
    if (layer && *layer >= base_.layers)
      return wrong("adapter-weights-base", tensor,
                   fmt::format("belongs to layer {}; the base has {} layers", *layer, base_.layers),
                   "take an adapter of this base model");
    wrong("adapter-not-servable", tensor,
          fmt::format("changes \"{}\", which is no linear module of a {} model", path, to_string(base_.family)),
          fmt::format("train {} only", fmt::join(linear_names, ", ")));
  }

  TensorPlace where(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) return {};
    const safetensors::Tensor& each = *found->second;
    return {weights_.data_at + each.begin, each.end - each.begin, dtype_of(each.dtype).value_or(Dtype::f32),
            each.shape};
  }

  const Config& base_;
  const safetensors::FileHeader& weights_;
  const ServingConfig& config_;
  const std::map<std::string, Place, std::less<>> places_;
  std::map<std::string_view, const safetensors::Tensor*> tensors_;
  validate::Findings findings_;
  AdapterRead& out_;
};

}  // namespace

std::string_view to_string(Linear linear) { return linear_names[static_cast<std::size_t>(linear)]; }

AdapterRead check_adapter(const Config& base, std::string_view config_json, const safetensors::FileHeader& weights,
                          const AdapterLimits& limits) {
  ServingConfig config = read_serving_config(config_json, limits.max_rank);
  AdapterRead out{.adapter = {}, .findings = std::move(config.findings)};
  Check(base, weights, config, out).run();
  out.adapter.base_model = config.lora.base_model;
  out.adapter.has_patterns = !config.alphas.empty() || config.lora.rank_pattern.largest() > 0;
  return out;
}

}  // namespace stackgate::model
