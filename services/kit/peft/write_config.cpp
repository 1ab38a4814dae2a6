#include <nlohmann/json.hpp>

#include "services/kit/peft/config.hpp"

namespace stackgate::peft {

std::string write_config(const Config& config) {
  using nlohmann::json;
  const auto text_or_null = [](const std::string& text) { return text.empty() ? json() : json(text); };
  // PEFT writes whole numbers without a point, and reads either.
  const auto number = [](double value) {
    const auto whole = static_cast<std::int64_t>(value);
    return static_cast<double>(whole) == value ? json(whole) : json(value);
  };
  const json out{
      {"alpha_pattern", json::object()},
      {"base_model_name_or_path", text_or_null(config.base_model)},
      {"bias", "none"},
      {"fan_in_fan_out", false},
      {"inference_mode", true},
      {"init_lora_weights", true},
      {"layers_pattern", nullptr},
      {"layers_to_transform", nullptr},
      {"lora_alpha", number(config.alpha)},
      {"lora_dropout", config.dropout},
      {"modules_to_save", nullptr},
      {"peft_type", "LORA"},
      {"r", config.rank},
      {"rank_pattern", json::object()},
      {"revision", text_or_null(config.revision)},
      {"target_modules", config.targets.is_list() ? json(config.targets.names()) : json(config.target_text)},
      {"task_type", "CAUSAL_LM"},
      {"use_dora", false},
      {"use_rslora", config.rslora},
  };
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace stackgate::peft
