// generation_config.json: what a request gets that says nothing, and which tokens end a text. The file may be absent.
// Source: transformers' GenerationConfig; of its members those that vLLM takes as a server's defaults.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"

namespace stackgate::model {

struct Generation {
  std::optional<double> temperature;         // 0 to 2
  std::optional<double> top_p;               // above 0, to 1
  std::optional<double> min_p;               // 0 to 1
  std::optional<double> repetition_penalty;  // above 0, to 100
  std::optional<std::uint32_t> top_k;        // 0: all
  std::optional<std::uint32_t> max_new_tokens;
  std::vector<std::uint32_t> end_ids;  // eos_token_id
};

struct GenerationRead {
  Generation generation;        // to be used only when there are no errors
  validate::Findings findings;  // paths: "generation_config.json: top_p"
};

inline constexpr std::size_t largest_generation_config = 1U << 20U;  // bytes

/// Pure; `json` may be freed afterwards. do_sample is not looked at, as in vLLM: temperature 0 is the greedy choice.
GenerationRead read_generation(std::string_view json);

}  // namespace stackgate::model
