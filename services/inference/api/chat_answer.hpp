// Answers of /v1/chat/completions. Source: OpenAI API reference, "The chat completion object", "… chunk object". Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/api/answer.hpp"
#include "services/inference/text/named_log_probs.hpp"

namespace stackgate::inference {

struct ToolCall {
  std::string id;  // "call_…"
  std::string name;
  std::string arguments;    // JSON, as a text; of a chunk the next part of it
  bool goes_on = false;     // of a chunk: only arguments are new
  std::uint32_t index = 0;  // of a chunk: which call
};

struct ChatLogProbs {
  std::vector<PositionLogProbs> positions;
  bool top = false;  // the request asked for top_logprobs
};

struct ChatChoice {
  std::uint32_t index = 0;
  std::string_view content;  // with tool calls and without content: null
  std::vector<ToolCall> tool_calls = {};
  std::optional<Finish> finish = {};
  std::optional<ChatLogProbs> log_probs = {};  // when the request asked for them
};

std::string chat_answer(const AnswerHead& head, std::span<const ChatChoice> choices, const Usage& usage);

/// The first event of a choice: its role.
std::string chat_begin_chunk(const AnswerHead& head, std::uint32_t index, const ChunkUsage& usage);
/// What came since: text, calls, log-probabilities; with a Finish the last one of the choice. A chunk has one choice.
std::string chat_chunk(const AnswerHead& head, const ChatChoice& choice, const ChunkUsage& usage);
/// Behind all choices, when the client asked for it.
std::string chat_usage_chunk(const AnswerHead& head, const Usage& usage);

}  // namespace stackgate::inference
