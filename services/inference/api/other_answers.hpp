// Answers of /v1/models, /v1/embeddings, /tokenize, /detokenize and the two calls that load and unload adapters. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/sampling/parameters.hpp"

namespace stackgate::inference {

struct ServedModel {
  std::string id;
  std::int64_t created = 0;  // seconds since 1970
  std::string owned_by;      // "stackgate", "peft"
  std::string root;          // folder or URL
  std::string parent = {};   // "": the base model
  std::uint32_t context = 0;
};

std::string models_answer(std::span<const ServedModel> models);
/// One of them.
std::string model_answer(const ServedModel& model);

/// `vectors`: one for each input; floats, or base64 of them as float32 in little-endian order.
std::string embeddings_answer(std::string_view model, std::span<const std::vector<float>> vectors, bool base64,
                              std::uint64_t prompt_tokens);

/// `names`: the tokens' texts, when the request asked for them.
std::string tokenize_answer(std::span<const TokenId> tokens, std::uint32_t context,
                            const std::optional<std::vector<std::string>>& names);
std::string detokenize_answer(std::string_view text);

/// Of this program: NIM's /v1/version, and with "version" vLLM's /version.
std::string version_answer();

/// Plain texts, as vLLM answers.
std::string adapter_loaded(std::string_view name);
std::string adapter_unloaded(std::string_view name);

}  // namespace stackgate::inference
