// POST /v1/embeddings, /tokenize, /detokenize, /v1/load_lora_adapter, /v1/unload_lora_adapter. Of each all faults at
// once.
#pragma once
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "services/inference/api/chat_request.hpp"
#include "services/inference/api/prompt.hpp"

namespace stackgate::inference {

struct EmbeddingRequest {
  std::string model, peft_name;
  std::vector<Prompt> inputs;
  bool base64 = false;  // encoding_format
};

struct TokenizeRequest {
  std::string model;  // may be absent
  std::string prompt;
  std::optional<TemplateInput> chat;  // instead of the prompt
  bool add_special_tokens = true;     // default for a chat: false, as its template writes them
  bool return_token_strs = false;
};

struct DetokenizeRequest {
  std::string model;  // may be absent
  std::vector<TokenId> tokens;
};

struct LoadAdapterRequest {
  std::string name, path;
  bool in_place = false;  // load_inplace: instead of one of this name
};

template <class Request>
using ReadBody = std::expected<Request, validate::Findings>;

ReadBody<EmbeddingRequest> read_embedding(const json::Value& body, const ApiLimits& limits);
ReadBody<TokenizeRequest> read_tokenize(const json::Value& body, const ApiLimits& limits);
ReadBody<DetokenizeRequest> read_detokenize(const json::Value& body, const ApiLimits& limits);
ReadBody<LoadAdapterRequest> read_load_adapter(const json::Value& body);
/// The adapter's name.
ReadBody<std::string> read_unload_adapter(const json::Value& body);

}  // namespace stackgate::inference
