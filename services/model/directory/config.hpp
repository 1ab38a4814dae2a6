// config.json of a model directory: what its graph looks like, checked. Llama, Mistral and Qwen2 are one graph with
// parameters. Source: the configuration classes of Hugging Face's transformers and the published files.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"

namespace stackgate::model {

enum class Family : std::uint8_t { llama, mistral, qwen2 };

std::string_view to_string(Family family);

/// Rotary position embedding, in the half-split form. With f_j = theta^(-2j / head_width) for j < head_width / 2:
/// `linear` divides every f_j by `factor`, `llama3` only those whose wave is longer than what it was trained for.
struct Rope {
  enum class Kind : std::uint8_t { plain, linear, llama3 } kind = Kind::plain;
  double theta = 10'000;
  double factor = 1;
  double low_frequency_factor = 1, high_frequency_factor = 4;  // llama3
  std::uint32_t original_context = 0;                          // llama3: positions
};

struct Config {
  Family family = Family::llama;
  std::uint32_t hidden = 0;        // width of the residual stream
  std::uint32_t intermediate = 0;  // width of the MLP
  std::uint32_t layers = 0;
  std::uint32_t heads = 0, key_value_heads = 0;  // the first is a multiple of the second
  std::uint32_t head_width = 0;                  // need not be hidden / heads
  std::uint32_t vocabulary = 0;                  // rows of the embedding; may be more than the tokenizer has tokens
  std::uint32_t context = 0;                     // positions, sliding windows considered
  double norm_epsilon = 1e-6;
  Rope rope{};
  bool tied_head = false;  // the output head is the embedding
  bool query_key_value_bias = false, output_bias = false, mlp_bias = false;
  std::vector<std::uint32_t> end_ids{};  // eos_token_id; generation_config.json and the tokenizer may have more
};

struct ConfigRead {
  Config config;                // to be used only when there are no errors
  validate::Findings findings;  // paths: "config.json: rope_scaling.factor"; warnings say what is served otherwise
};

inline constexpr std::size_t largest_config = 1U << 20U;  // bytes

/// Pure; `json` may be freed afterwards.
ConfigRead read_config(std::string_view json);

}  // namespace stackgate::model
