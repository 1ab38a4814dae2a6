// What a request says about how its tokens are chosen. Bounds are checked where requests are read
// (services/inference/api); the sampler takes any value and never fails because of one.
// Source of order and meaning: vLLM, docs/api/vllm/sampling_params; OpenAI API reference, "Create completion".
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace stackgate::inference {

using TokenId = std::uint32_t;

struct SamplingParameters {
  float temperature = 1;         // below 1e-5: always the likeliest token
  float top_p = 1;               // 1: all
  std::uint32_t top_k = 0;       // 0: all
  float min_p = 0;               // of the largest probability; 0: all
  float repetition_penalty = 1;  // 1: none
  float frequency_penalty = 0;
  float presence_penalty = 0;
  std::uint32_t min_tokens = 0;                            // until then tokens that end the sequence are forbidden
  std::vector<std::pair<TokenId, float>> logit_bias = {};  // ids beyond the row are passed over

  bool penalizes() const { return repetition_penalty != 1 || frequency_penalty != 0 || presence_penalty != 0; }
  bool greedy() const { return temperature < 1e-5F; }
};

}  // namespace stackgate::inference
