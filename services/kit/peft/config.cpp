#include "services/kit/peft/config.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::peft {
namespace config_detail {

class Reader {
 public:
  Reader(const json::Value& root, const ServingLimits& limits) : root_(root), limits_(limits) {}

  ConfigRead read() {
    kind();
    numbers();
    targets();
    rank_pattern();
    refused_by_servers();
    const json::Value* base = field("base_model_name_or_path");
    out_.config.base_model_unread = base != nullptr && !base->is_string();
    out_.config.base_model = text("base_model_name_or_path");
    out_.config.revision = text("revision");
    return std::move(out_);
  }

 private:
  static std::string at(std::string_view field) { return fmt::format("adapter[adapter_config.json].{}", field); }

  /// A field that is there and not null.
  const json::Value* field(std::string_view name) const {
    const json::Value* value = root_.find(name);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  void wrong(std::string_view rule, std::string_view name, std::string problem, std::string fix) {
    add(out_.findings, rule, at(name), std::move(problem), std::move(fix));
    if (const json::Value* value = field(name); value != nullptr && !out_.findings.empty()) {
      std::string shown = json::to_json(*value);
      if (shown.size() <= 120) out_.findings.back().value = std::move(shown);
    }
  }

  std::string text(std::string_view name) {
    const json::Value* value = field(name);
    if (value == nullptr) return {};
    if (!value->is_string()) wrong("adapter-config-type", name, "must be a text", "write a text or null");
    return std::string(value->string());
  }

  bool flag(std::string_view name) {
    const json::Value* value = field(name);
    if (value == nullptr) return false;
    if (!value->is_boolean()) wrong("adapter-config-type", name, "must be true or false", "write true or false");
    return value->boolean();
  }

  void kind() {
    const std::string type = text("peft_type"), task = text("task_type");
    if (type != "LORA")
      wrong("adapter-config-kind", "peft_type", type.empty() ? "is missing" : "is not LORA",
            "train the adapter with LoRA: only these are served");
    if (!task.empty() && task != "CAUSAL_LM")
      wrong("adapter-config-kind", "task_type", "is not CAUSAL_LM", "write \"CAUSAL_LM\" or null");
  }

  void numbers() {
    Config& config = out_.config;
    if (const json::Value* r = field("r"); r == nullptr) {
      wrong("adapter-config-missing", "r", "is missing", "write the rank that the adapter was trained with");
    } else if (!r->is_integer() || r->integer() < 1) {
      wrong("adapter-config-type", "r", "must be a whole number of 1 or more", "write the rank of the tensors");
    } else {
      config.rank = r->integer();
    }
    if (const json::Value* alpha = field("lora_alpha"); alpha == nullptr) {
      wrong("adapter-config-missing", "lora_alpha", "is missing", "write the alpha that the adapter was trained with");
    } else if (!alpha->is_number() || !std::isfinite(alpha->number()) || alpha->number() <= 0) {
      wrong("adapter-config-type", "lora_alpha", "must be a number above 0", "write the alpha of the training");
    } else {
      config.alpha = alpha->number();
      config.has_alpha = true;
    }
    if (const json::Value* dropout = field("lora_dropout"); dropout != nullptr) {
      config.dropout_unread = !dropout->is_number() || !(dropout->number() >= 0 && dropout->number() < 1);
      if (config.dropout_unread)
        wrong("adapter-config-type", "lora_dropout", "must be a number from 0 to below 1", "write the dropout used");
      else
        config.dropout = dropout->number();
    }
    config.rslora = flag("use_rslora");
    flag("fan_in_fan_out");
  }

  void targets() {
    constexpr std::string_view name = "target_modules";
    const json::Value* value = field(name);
    if (value == nullptr)
      return wrong("adapter-config-missing", name, "is missing", "list the modules that the adapter changes");
    out_.config.has_targets = true;
    if (value->is_string()) return expression(value->string());
    std::vector<std::string> names;
    for (const json::Value& item : value->items()) names.emplace_back(item.string());
    if (!value->is_array() || names.empty() || std::ranges::find(names, "") != names.end())
      return wrong("adapter-config-type", name, "must be a list of module names or an expression",
                   "write, for example, [\"q_proj\", \"v_proj\"]");
    out_.config.targets = Targets::list(std::move(names));
  }

  void expression(std::string_view text) {
    constexpr std::string_view name = "target_modules";
    if (text.empty())
      return wrong("adapter-config-type", name, "is an empty text", "list the modules that the adapter changes");
    out_.config.target_text = text;
    if (text == "all-linear") return;
    auto targets = Targets::expression(text);
    if (targets)
      out_.config.targets = std::move(*targets);
    else
      warn(out_.findings, "adapter-config-expression", at(name),
           fmt::format("is an expression that cannot be checked here: {}", targets.error()),
           "write a list of module names to have them checked");
  }

  void rank_pattern() {
    const json::Value* value = field("rank_pattern");
    if (value == nullptr) return;
    if (!value->is_object() || value->members().size() > 2'000)
      return wrong("adapter-config-type", "rank_pattern", "must be an object of at most 2000 ranks",
                   "write {\"<module>\": <rank>}");
    for (const json::Member& member : value->members()) {
      if (!member.value.is_integer() || member.value.integer() < 1)
        return wrong("adapter-config-type", "rank_pattern",
                     fmt::format("\"{}\" must be a whole number of 1 or more", member.key), "write the rank");
      if (auto added = out_.config.rank_pattern.add(member.key, member.value.integer()); !added)
        warn(out_.findings, "adapter-config-expression", at("rank_pattern"),
             fmt::format("\"{}\" cannot be checked here: {}", member.key, added.error()), "write plain module names");
    }
  }

  void refused_by_servers() {
    constexpr std::string_view rule = "adapter-not-servable";
    if (const json::Value* bias = field("bias"); bias != nullptr && bias->string() != "none")
      wrong(rule, "bias", "must be \"none\": servers do not load trained biases", "train with bias=\"none\"");
    if (const json::Value* saved = field("modules_to_save");
        saved != nullptr && !(saved->is_array() && saved->items().empty()))
      wrong(rule, "modules_to_save", "must be null: servers do not load whole modules",
            "train without modules_to_save");
    if (flag("use_dora")) wrong(rule, "use_dora", "must be false: servers do not load DoRA", "train without DoRA");
    const std::int64_t rank = std::max(out_.config.rank, out_.config.rank_pattern.largest());
    if (rank > limits_.max_rank)
      wrong(rule, "r", fmt::format("leads to the rank {}; servers take at most {}", rank, limits_.max_rank),
            "train with a lower rank, or raise --max-lora-rank with the servers' own limit");
  }

  const json::Value& root_;
  const ServingLimits& limits_;
  ConfigRead out_;
};

}  // namespace config_detail

ConfigRead read_config(std::string_view text, const ServingLimits& limits) {
  json::Document document;
  const auto root = json::parse(text, document, {.max_depth = 32, .max_bytes = 4U << 20U});
  constexpr std::string_view path = "adapter[adapter_config.json]";
  ConfigRead out;
  out.config.dropout_unread = out.config.base_model_unread = true;
  if (!root) {
    add(out.findings, "adapter-config-json", std::string(path),
        fmt::format("is no JSON: {} at byte {}", root.error().message, root.error().offset),
        "write it again with PEFT");
    return out;
  }
  if (!root->is_object()) {
    add(out.findings, "adapter-config-json", std::string(path), "is no JSON object", "write it again with PEFT");
    return out;
  }
  return config_detail::Reader(*root, limits).read();
}

}  // namespace stackgate::peft
