#include "services/model/adapter/serving_config.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::model {
namespace {

constexpr std::size_t most_patterns = 2000, most_layers = 4096;

struct Refused {
  std::string_view field, problem, fix;
};
/// What kit/peft does not refuse already. A field is set when it is neither null nor false nor empty.
constexpr std::array<Refused, 5> refused{{
    {"lora_bias", "gives the adapter biases, which are not served", "train with lora_bias=False"},
    {"trainable_token_indices", "changes rows of the embedding, which is not served",
     "train without trainable_token_indices"},
    {"alora_invocation_tokens", "makes it an activated LoRA, which is not served", "train a plain LoRA"},
    {"target_parameters", "changes parameters that are no linear modules", "train linear modules: target_modules"},
    {"layer_replication", "makes a model of other layers than the base has", "train without layer_replication"},
}};
/// Initialisations that change the base as well.
constexpr std::array<std::string_view, 5> base_changers{"pissa", "olora", "corda", "loftq", "lora_ga"};

bool is_set(const json::Value& value) {
  if (value.is_boolean()) return value.boolean();
  if (value.is_string()) return !value.string().empty();
  if (value.is_array()) return !value.items().empty();
  return value.is_object() ? !value.members().empty() : !value.is_null();
}

class Reader {
 public:
  Reader(const json::Value& root, ServingConfig& out) : root_(root), out_(out) {}

  void read() {
    for (const Refused& each : refused)
      if (const json::Value* value = root_.find(each.field); value != nullptr && is_set(*value))
        wrong("adapter-not-servable", each.field, std::string(each.problem), std::string(each.fix));
    alphas();
    excluded();
    layers();
    warnings();
  }

 private:
  const json::Value* field(std::string_view name) const {
    const json::Value* value = root_.find(name);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  static std::string at(std::string_view field) { return fmt::format("adapter[adapter_config.json].{}", field); }
  void wrong(std::string_view rule, std::string_view name, std::string problem, std::string fix) {
    peft::add(out_.findings, rule, at(name), std::move(problem), std::move(fix));
  }

  void alphas() {
    const json::Value* value = field("alpha_pattern");
    if (value == nullptr) return;
    if (!value->is_object() || value->members().size() > most_patterns)
      return wrong("adapter-config-type", "alpha_pattern",
                   fmt::format("must be an object of at most {} alphas", most_patterns),
                   "write {\"<module>\": <alpha>}");
    std::size_t expressions = 0;
    for (const json::Member& each : value->members()) {
      if (peft::is_expression(each.key) && ++expressions > peft::most_expressions)
        return wrong("adapter-config-expression", "alpha_pattern",
                     fmt::format("has more than {} expressions", peft::most_expressions), "write plain module names");
      alpha(each);
    }
  }

  void alpha(const json::Member& each) {
    const double value = each.value.number();
    if (!each.value.is_number() || !std::isfinite(value) || value <= 0)
      return wrong("adapter-config-type", "alpha_pattern", fmt::format("\"{}\" must be a number above 0", each.key),
                   "write the alpha of the training");
    auto key = peft::ModuleKey::read(each.key);
    if (key) return void(out_.alphas.emplace_back(std::move(*key), value));
    wrong("adapter-config-expression", "alpha_pattern",
          fmt::format("\"{}\" cannot be matched here, and the scale depends on it: {}", each.key, key.error()),
          "write plain module names");
  }

  void excluded() {
    const json::Value* value = field("exclude_modules");
    if (value == nullptr || !is_set(*value)) return;
    if (value->is_string()) {
      auto targets = peft::Targets::expression(value->string());
      if (targets) out_.excluded = std::move(*targets);  // else the tensors alone say what is changed
      return;
    }
    std::vector<std::string> names;
    for (const json::Value& item : value->items()) names.emplace_back(item.string());
    if (!value->is_array() || std::ranges::find(names, "") != names.end())
      return wrong("adapter-config-type", "exclude_modules", "must be a list of module names or an expression",
                   "write, for example, [\"lm_head\"]");
    out_.excluded = peft::Targets::list(std::move(names));
  }

  void layers() {
    const json::Value* value = field("layers_to_transform");
    if (value == nullptr) return;
    const std::span<const json::Value> items = value->is_array() ? value->items() : std::span(value, 1);
    std::vector<std::uint64_t> layers;
    for (const json::Value& item : items)
      if (item.is_integer() && item.integer() >= 0) layers.push_back(static_cast<std::uint64_t>(item.integer()));
    if (layers.size() != items.size() || items.size() > most_layers)
      return wrong("adapter-config-type", "layers_to_transform", "must be a layer's number or a list of them",
                   "write null for all layers");
    if (!layers.empty()) out_.layers = std::move(layers);
  }

  void warnings() {
    if (const json::Value* flag = field("fan_in_fan_out"); flag != nullptr && flag->boolean())
      peft::warn(out_.findings, "adapter-fan-in", at("fan_in_fan_out"),
                 "is true, which means nothing for linear modules: it is taken as false, as PEFT does",
                 "train with fan_in_fan_out=False");
    const json::Value* init = field("init_lora_weights");
    const auto begins = [&](std::string_view word) { return init->string().starts_with(word); };
    if (init != nullptr && std::ranges::any_of(base_changers, begins))
      peft::warn(out_.findings, "adapter-base-changed", at("init_lora_weights"),
                 fmt::format("is \"{}\": training began with another base, unless it was converted when it was saved",
                             init->string()),
                 "save it with path_initial_model_for_weight_conversion");
  }

  const json::Value& root_;
  ServingConfig& out_;
};

}  // namespace

double ServingConfig::alpha_of(std::string_view module) const {
  for (const auto& [key, alpha] : alphas)
    if (key.matches(module)) return alpha;
  return lora.alpha;
}

std::string_view ServingConfig::excludes(std::string_view module) const {
  if (excluded && excluded->contains(module)) return "exclude_modules";
  if (lora.target_text == "all-linear" && module == "lm_head") return "target_modules";
  // Layers narrow the names of a list, but not a module that it names in full, nor an expression.
  if (!layers || !lora.targets.is_list() ||
      std::ranges::find(lora.targets.names(), module) != lora.targets.names().end())
    return {};
  const auto layer = peft::layer_of(module);
  return layer && std::ranges::find(*layers, *layer) != layers->end() ? std::string_view() : "layers_to_transform";
}

ServingConfig read_serving_config(std::string_view json, std::uint32_t max_rank) {
  auto [lora, findings] = peft::read_config(json, {.max_rank = max_rank});
  ServingConfig out{
      .lora = std::move(lora), .alphas = {}, .excluded = {}, .layers = {}, .findings = std::move(findings)};
  json::Document document;
  const auto root = json::parse(json, document, {.max_depth = 32, .max_bytes = 4U << 20U});
  if (root && root->is_object()) Reader(*root, out).read();
  return out;
}

}  // namespace stackgate::model
