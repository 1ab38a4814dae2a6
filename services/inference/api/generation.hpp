// What completions and chat have in common: who answers, how tokens are chosen, when an answer ends.
// Source: OpenAI API reference, "Create completion", "Create chat completion"; vLLM's extra parameters.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/inference/api/fields.hpp"
#include "services/inference/api/limits.hpp"
#include "services/inference/sampling/parameters.hpp"
#include "services/inference/text/sequence_text.hpp"

namespace stackgate::inference {

/// response_format.
struct ResponseFormat {
  enum class Kind : std::uint8_t { text, json_object, json_schema };
  Kind kind = Kind::text;
  std::string name = {};
  std::string schema = {};  // JSON of json_schema.schema; not yet compiled
};

struct Generation {
  std::string model, peft_name;
  std::uint32_t n = 1;
  std::uint32_t best_of = 1;  // ≥ n
  bool stream = false;
  bool include_usage = false;       // stream_options
  bool add_special_tokens = false;  // to a text; a chat's template writes them
  std::string cache_salt;           // what was computed is found again under the same one alone
  std::optional<std::uint64_t> seed;
  std::optional<std::uint32_t> max_tokens;  // as given: fit_context() says what it comes to
  std::optional<std::uint32_t> log_probs;   // how many of the best besides the chosen token
  SamplingParameters sampling;
  TextOptions text;  // but end_ids and max_tokens
  ResponseFormat format;
};

/// Reads all but max_tokens, logprobs and add_special_tokens, in which the two APIs differ, and refuses by name what
/// neither serves.
Generation read_generation(Fields& fields, const ApiLimits& limits);

}  // namespace stackgate::inference
