#include "services/kit/peft/compatibility.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::peft {
namespace compatibility_detail {

/// "models--meta-llama--Llama-3.1-8B/snapshots/…" is how Hugging Face's cache calls a model.
std::string from_cache(std::string_view path) {
  const auto begin = path.find("models--");
  if (begin == std::string_view::npos) return {};
  std::string_view name = path.substr(begin + 8);
  name = name.substr(0, name.find('/'));
  const auto split = name.find("--");
  if (split == std::string_view::npos) return std::string(name);
  return fmt::format("{}/{}", name.substr(0, split), name.substr(split + 2));
}

struct Name {
  std::string owner, model;
};

std::optional<Name> normal(std::string_view text) {
  while (!text.empty() && (text.back() == '/' || text.back() == ' ')) text.remove_suffix(1);
  for (const std::string_view scheme : {"https://huggingface.co/", "http://huggingface.co/", "hf://"})
    if (text.starts_with(scheme)) text.remove_prefix(scheme.size());
  const std::string cached = from_cache(text);
  if (!cached.empty()) text = cached;
  if (text.ends_with(".git")) text.remove_suffix(4);
  text = text.substr(0, text.find('@'));
  const bool path = text.empty() || text.front() == '/' || text.front() == '.' || text.front() == '~' ||
                    text.contains("://") || std::ranges::count(text, '/') > 1 ||
                    text.find('\\') != std::string_view::npos;
  if (path) return std::nullopt;
  std::string lower;
  for (const char c : text) lower += c == '_' ? '-' : ascii::to_lower(c);
  const auto slash = lower.find('/');
  if (slash == std::string::npos) return Name{"", lower};
  return Name{lower.substr(0, slash), lower.substr(slash + 1)};
}

std::uint64_t size_of(const json::Value& root, std::string_view name) {
  const json::Value* value = root.find(name);
  return value != nullptr && value->is_integer() && value->integer() > 0 ? static_cast<std::uint64_t>(value->integer())
                                                                         : 0;
}

struct Expected {
  std::string_view module;
  std::uint64_t ModelShape::* in;
  std::uint64_t ModelShape::* out;
};
constexpr std::array<Expected, 7> expected{{{"q_proj", &ModelShape::hidden, &ModelShape::query},
                                            {"k_proj", &ModelShape::hidden, &ModelShape::key_value},
                                            {"v_proj", &ModelShape::hidden, &ModelShape::key_value},
                                            {"o_proj", &ModelShape::query, &ModelShape::hidden},
                                            {"gate_proj", &ModelShape::hidden, &ModelShape::intermediate},
                                            {"up_proj", &ModelShape::hidden, &ModelShape::intermediate},
                                            {"down_proj", &ModelShape::intermediate, &ModelShape::hidden}}};

}  // namespace compatibility_detail

SameModel compare_models(std::string_view file, std::string_view metadata) {
  const auto a = compatibility_detail::normal(file), b = compatibility_detail::normal(metadata);
  if (!a || !b) return SameModel::unknown;
  // Owners differ between registries ("meta", "meta-llama") for one and the same model.
  return a->model == b->model ? SameModel::same : SameModel::different;
}

std::optional<ModelShape> read_model_shape(std::string_view config_json) {
  json::Document document;
  const auto root = json::parse(config_json, document, {.max_depth = 64, .max_bytes = 4U << 20U});
  if (!root || !root->is_object()) return std::nullopt;
  const auto size = [&](std::string_view name) { return compatibility_detail::size_of(*root, name); };
  ModelShape out{.layers = size("num_hidden_layers"),
                 .hidden = size("hidden_size"),
                 .intermediate = size("intermediate_size"),
                 .vocabulary = size("vocab_size")};
  const std::uint64_t heads = size("num_attention_heads"), groups = size("num_key_value_heads");
  std::uint64_t width = size("head_dim");
  if (width == 0 && heads > 0 && out.hidden % heads == 0) width = out.hidden / heads;
  // Anything beyond is no model, and must not overflow.
  constexpr std::uint64_t absurd = 1U << 30U;
  if (heads < absurd && groups < absurd && width < absurd) {
    out.query = heads * width;
    out.key_value = (groups == 0 ? heads : groups) * width;
  }
  if (out.layers == 0 && out.hidden == 0) return std::nullopt;
  return out;
}

validate::Findings check_claims(const Claimed& claimed, const Config& config) {
  validate::Findings out;
  const auto differ = [&](std::string_view field, std::string problem) {
    add(out, "adapter-metadata-differs", fmt::format("metadata.{}", field), std::move(problem),
        "leave the field out, or upload the file that it describes");
  };
  if (claimed.rank && config.rank > 0 && *claimed.rank != config.rank)
    differ("lora_config.rank", fmt::format("is {}, but adapter_config.json says r = {}", *claimed.rank, config.rank));
  if (claimed.alpha && config.has_alpha && std::abs(*claimed.alpha - config.alpha) > 1e-9)
    differ("lora_config.alpha",
           fmt::format("is {}, but adapter_config.json says lora_alpha = {}", *claimed.alpha, config.alpha));
  if (claimed.dropout && !config.dropout_unread && std::abs(*claimed.dropout - config.dropout) > 1e-6)
    differ("lora_config.dropout",
           fmt::format("is {}, but adapter_config.json says lora_dropout = {}", *claimed.dropout, config.dropout));
  if (claimed.target_modules && config.targets.is_list()) {
    const std::set<std::string> a(claimed.target_modules->begin(), claimed.target_modules->end());
    const std::set<std::string> b(config.targets.names().begin(), config.targets.names().end());
    if (a != b)
      differ("lora_config.target_modules",
             fmt::format("is [{}], but adapter_config.json says [{}]", fmt::join(a, ", "), fmt::join(b, ", ")));
  }
  if (claimed.base_model.empty() || config.base_model_unread) return out;  // that is said already
  switch (compare_models(config.base_model, claimed.base_model)) {
    case SameModel::same:
      break;
    case SameModel::different:
      add(out, "adapter-base-model", "metadata.base_model",
          fmt::format("is \"{}\", but the adapter was trained on \"{}\"", claimed.base_model, config.base_model),
          "name the model that the adapter was trained on");
      break;
    case SameModel::unknown:
      if (!config.base_model.empty() && compatibility_detail::normal(config.base_model))
        warn(
            out, "adapter-base-model-unknown", "metadata.base_model",
            fmt::format("is the path \"{}\", so it could not be compared with \"{}\", on which the adapter was trained",
                        claimed.base_model, config.base_model),
            "write the model's name there");
      else
        warn(out, "adapter-base-model-unknown", "adapter[adapter_config.json].base_model_name_or_path",
             config.base_model.empty()
                 ? std::string("is missing, so the base model could not be compared")
                 : fmt::format("is the path \"{}\", so the base model could not be compared", config.base_model),
             "write the model's name there");
      break;
  }
  return out;
}

validate::Findings check_dimensions(const Tensors& tensors, const ModelShape& shape) {
  validate::Findings out;
  for (const auto& [path, module] : tensors.modules) {
    const std::string at = fmt::format("adapter[adapter_model.safetensors][base_model.model.{}]", path);
    if (const auto layer = layer_of(path); layer && shape.layers > 0 && *layer >= shape.layers)
      add(out, "adapter-base-model-shape", at,
          fmt::format("lies in layer {}, but the base model has {}", *layer, shape.layers),
          "name the model that the adapter was trained on");
    for (const auto& known : compatibility_detail::expected) {
      if (suffix_of(path) != known.module) continue;
      const std::uint64_t in = shape.*known.in, out_size = shape.*known.out;
      if ((in > 0 && in != module.in) || (out_size > 0 && out_size != module.out))
        add(out, "adapter-base-model-shape", at,
            fmt::format("leads from {} to {} values, but in the base model from {} to {}", module.in, module.out, in,
                        out_size),
            "name the model that the adapter was trained on");
    }
  }
  return out;
}

std::vector<std::string> target_names(const Config& config, const Tensors& tensors) {
  if (config.targets.is_list()) return config.targets.names();
  std::set<std::string> names;
  for (const auto& [path, module] : tensors.modules) names.emplace(suffix_of(path));
  return {names.begin(), names.end()};
}

}  // namespace stackgate::peft
