// What a server's model allows a request. Set at the start.
#pragma once
#include <cstdint>

#include "services/inference/sampling/parameters.hpp"

namespace stackgate::inference {

struct ApiLimits {
  std::uint32_t context = 4096;      // tokens of prompt and answer
  std::uint32_t vocabulary = 32000;  // token ids are below it
  SamplingParameters defaults = {};  // of the model's generation_config.json
};

// OpenAI's and vLLM's bounds, or ours where they have none.
inline constexpr std::uint32_t most_choices = 128, most_best_of = 20, most_log_probs = 20, default_max_tokens = 16;
inline constexpr std::uint32_t most_prompts = 2048,
                               most_sequences = 4096;  // of one request; sequences = prompts × best_of
inline constexpr std::size_t most_stops = 64, longest_stop = 1024, longest_salt = 1024;  // bytes
inline constexpr std::size_t most_tools = 128,
                             largest_schema = 256U << 10U;  // bytes, of an answer or a tool's parameters

}  // namespace stackgate::inference
