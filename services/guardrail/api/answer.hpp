// Answers of /v1/chat/completions and /v1/guardrail/completions, whole and as events. OpenAI's objects with two members
// more: `guardrails`, and `messages`, which older clients read. Source: services.md section 5.1. Pure: JSON texts.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/dialog/turn.hpp"

namespace stackgate::guardrail {

struct AnswerHead {
  std::string_view id;       // "chatcmpl-…": one for all chunks
  std::int64_t created = 0;  // seconds since 1970
  std::string_view model;
};

struct Usage {
  std::uint64_t prompt_tokens = 0, completion_tokens = 0;
};

/// What the rails did, and what the request's options asked for; texts are JSON, "" is left out.
struct GuardrailsData {
  std::span<const std::string> config_ids{};
  Outcome outcome = Outcome::passed;
  std::string_view rail{};  // that blocked
  std::string state{}, llm_output{}, output_data{}, log{};
};

struct ChatAnswer {
  AnswerHead head;
  std::string_view text{};                  // of the assistant; with tool calls and without text: null
  const Event* exception = nullptr;         // instead: enable_rails_exceptions
  std::string tool_calls{};                 // JSON list, or ""
  std::string_view finish_reason = "stop";  // "tool_calls", "length", …
  std::optional<Usage> usage{};
  GuardrailsData guardrails{};
  bool older_form = false;     // state, llm_output, output_data and log at the top, too
  bool return_choice = false;  // the guardrails' data is a choice of its own, as the microservice has it
};

std::string chat_answer(const ChatAnswer& answer);
/// An object text_completion: `choices[].text`.
std::string completion_answer(const ChatAnswer& answer);

inline constexpr std::string_view done_event = "data: [DONE]\n\n";
/// A comment, so that proxies do not close a silent stream.
inline constexpr std::string_view ping_event = ": ping\n\n";

/// The first event: the role.
std::string begin_chunk(const AnswerHead& head, bool include_usage);
/// Text that may leave.
std::string text_chunk(const AnswerHead& head, std::string_view text, bool include_usage);
/// The delta's `tool_calls`, a JSON list.
std::string tool_calls_chunk(const AnswerHead& head, std::string_view tool_calls, bool include_usage);
/// The last one with a choice; `guardrails` when there is something that was asked for (nullptr: nothing).
std::string finish_chunk(const AnswerHead& head, std::string_view finish_reason, const GuardrailsData* guardrails,
                         bool include_usage);
/// Behind it, without choices, when the client asked for it.
std::string usage_chunk(const AnswerHead& head, const Usage& usage);
/// A violation in mid-stream; done_event follows. OpenAI's clients throw an APIError with these members.
std::string violation_event(std::string_view rail);
/// A rail's exception in mid-stream.
std::string exception_event(const Event& exception, std::string_view rail);

}  // namespace stackgate::guardrail
