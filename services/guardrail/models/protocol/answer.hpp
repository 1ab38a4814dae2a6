// What an OpenAI endpoint answers, read with limits. Pure and thread-safe: the bytes come from outside.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::guardrail {

struct TokenUsage {
  std::uint32_t prompt = 0, completion = 0;
};

struct ModelAnswer {
  std::string text;       // of the first choice; empty where it has tool calls only
  std::string message{};  // the first choice's whole message as JSON, tool calls included
  bool has_tool_calls = false;
  std::string finish_reason{};
  std::string model{};
  TokenUsage usage{};
  std::string body{};                // as it came; of a stream empty
  std::chrono::nanoseconds took{0};  // with waiting and repetitions
};

/// Why there is no answer.
struct ModelFailure {
  int status = 502;                     // what a client of ours is told
  std::string message{};                // for that client: the endpoint's words where it has some, never a key
  std::string type{}, code{}, param{};  // of OpenAI's error
  std::optional<std::chrono::seconds> retry_after{};
  std::string cause{};  // for the log: whom, what; no user's text and no key
};

inline constexpr std::size_t largest_answer = 16U << 20U;  // bytes

// The errors are sentences, without anything of the answer.
/// `completion`: the answer of /completions.
std::expected<ModelAnswer, std::string> read_answer(std::string_view body, bool completion);
/// As many vectors as were asked for, all of one length, in the order of the texts.
std::expected<std::vector<std::vector<float>>, std::string> read_embeddings(std::string_view body, std::size_t texts);
/// Ids of GET /models, in order; at most 10,000.
std::expected<std::vector<std::string>, std::string> read_model_names(std::string_view body);

/// An answer of 400 and above, or an error in a stream (`status` 0: that of its code, or 502). `key` is taken out of
/// the endpoint's words; of 401 and 403 they are not passed on: they are about our key. `origin` is for `cause`.
ModelFailure read_failure(int status, std::string_view body, std::string_view key, std::string_view origin);

}  // namespace stackgate::guardrail
