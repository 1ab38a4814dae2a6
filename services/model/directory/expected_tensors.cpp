#include <fmt/format.h>

#include "services/model/directory/tensors.hpp"

namespace stackgate::model {

std::vector<ExpectedTensor> expected_tensors(const Config& config) {
  const std::uint64_t hidden = config.hidden, heads = std::uint64_t{config.heads} * config.head_width,
                      key_values = std::uint64_t{config.key_value_heads} * config.head_width;
  std::vector<ExpectedTensor> out{{"model.embed_tokens.weight", {config.vocabulary, hidden}}};
  for (std::uint32_t i = 0; i < config.layers; ++i) {
    const std::string layer = fmt::format("model.layers.{}.", i);
    const auto norm = [&](std::string_view name) {
      out.push_back({fmt::format("{}{}.weight", layer, name), {hidden}});
    };
    const auto linear = [&](std::string_view name, std::uint64_t rows, std::uint64_t columns, bool bias) {
      out.push_back({fmt::format("{}{}.weight", layer, name), {rows, columns}});
      if (bias) out.push_back({fmt::format("{}{}.bias", layer, name), {rows}});
    };
    norm("input_layernorm");
    linear("self_attn.q_proj", heads, hidden, config.query_key_value_bias);
    linear("self_attn.k_proj", key_values, hidden, config.query_key_value_bias);
    linear("self_attn.v_proj", key_values, hidden, config.query_key_value_bias);
    linear("self_attn.o_proj", hidden, heads, config.output_bias);
    norm("post_attention_layernorm");
    linear("mlp.gate_proj", config.intermediate, hidden, config.mlp_bias);
    linear("mlp.up_proj", config.intermediate, hidden, config.mlp_bias);
    linear("mlp.down_proj", hidden, config.intermediate, config.mlp_bias);
  }
  out.push_back({"model.norm.weight", {hidden}});
  if (!config.tied_head) out.push_back({"lm_head.weight", {config.vocabulary, hidden}});
  return out;
}

}  // namespace stackgate::model
