// What is sent to an OpenAI endpoint: addresses and bodies. Pure and thread-safe.
// Source: https://platform.openai.com/docs/api-reference; vLLM and NIM speak the same.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/prompts/task.hpp"

namespace stackgate::guardrail {

/// Whom a call asks. The key itself is not here: it is looked at when a call is made.
struct ModelEndpoint {
  std::string type{"main"};  // of the configuration's models, for metrics
  std::string base_url;      // "http://vllm:8000/v1"; "/v1" is added to one without a path
  std::string api_key_file{};
  std::string api_key_env{};     // the variable's name; used when there is no file
  std::string model{};           // empty: what the endpoint lists first
  std::string parameters{"{}"};  // JSON object: temperature, max_tokens, …
  bool completion = false;       // /completions instead of /chat/completions
};

struct ModelRequest {
  std::string task;                 // "self_check_input": for metrics, logs and options.log
  std::vector<Message> messages{};  // before those of `messages_json`
  std::string messages_json{};      // JSON array, as a client's body has it: parts and tool calls are kept
  /// JSON object: a client's body, whose parameters come before those of the endpoint. What belongs to the guardrail
  /// and what the call decides itself (model, messages, prompt, stream) is left out.
  std::string body{};
  std::optional<double> temperature{};  // these three come before all others
  std::optional<std::uint32_t> max_tokens{};
  std::vector<std::string> stop{};
  std::chrono::milliseconds deadline{0};  // the whole call with its repetitions; of a stream until its head; 0: default
};

/// "http://vllm:8000/v1/chat/completions" of "http://vllm:8000", "…/v1", "…/v1/" or the whole.
std::string endpoint_url(std::string_view base_url, std::string_view path);
/// The same without anything that could be a secret, for logs and metrics: scheme, host and port.
std::string endpoint_origin(std::string_view base_url);

/// The body of a chat completion, or of a completion where the endpoint is one. The error is a sentence: JSON that is
/// none.
std::expected<std::string, std::string> write_model_body(const ModelEndpoint& endpoint, const ModelRequest& request,
                                                         std::string_view model, bool stream);
std::string write_embeddings_body(std::string_view model, const std::vector<std::string>& texts);

/// The messages of a request, for people: the text of a single one; where it has `messages_json`, all as a JSON array.
std::string shown_prompt(const ModelRequest& request);

/// Messages as one text, for models without chat: system texts, then "User: …" and "Assistant: …" in turn.
std::string prompt_text(const std::vector<Message>& messages);

}  // namespace stackgate::guardrail
