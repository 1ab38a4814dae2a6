// A message of a conversation as a client sent it. Source: OpenAI API reference, "Create chat completion", messages;
// the roles `context` and `event` are NeMo Guardrails'. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/api/fields.hpp"
#include "services/guardrail/dialog/turn.hpp"

namespace stackgate::guardrail {

/// `exception` is what an earlier answer was, sent back; it goes nowhere.
enum class Role : std::uint8_t { system, developer, user, assistant, tool, function, context, event, exception };
std::string_view to_string(Role role);

struct ToolCall {
  std::string id, name;
  std::string arguments;  // JSON, as a text
};

struct ChatMessage {
  Role role = Role::user;
  std::string text{};                  // the parts of type text, joined by line ends
  std::string json{};                  // as it was sent, compact
  std::vector<ToolCall> tool_calls{};  // assistant
  std::string tool_call_id{}, name{};  // tool, function
  std::optional<Event> event{};        // event
};

/// `messages`: shape, roles, limits. Members of messages of role context are put into `context`, later ones instead of
/// earlier ones.
std::vector<ChatMessage> read_messages(Fields& body, Variables& context);

/// What a turn is made of: the last message of the user, what came before, and, where the conversation ends with the
/// assistant, its message, to be checked. Calls of tools and their results in between are in no history of texts.
struct TurnParts {
  std::vector<Message> history{};             // roles system (developer's too), user, assistant; texts
  std::optional<std::string> user_message{};  // nothing: there is none
  std::optional<std::string> bot_message{};
  std::vector<ToolCall> tool_calls{};       // of that answer
  std::vector<ChatMessage> tool_results{};  // behind the last message of the user
  std::vector<Event> events{};
};
TurnParts turn_parts(std::span<const ChatMessage> messages);

/// The messages for the main model as a JSON list, as they were sent, but for: roles context, event and exception are
/// left out; neighbouring parts of type text are one, as the rails saw them; and the text of the last message of the
/// user is `user_message` where the rails altered it (its images stay). `first` come before all: a thread's earlier
/// messages.
std::string upstream_messages(std::span<const Message> first, std::span<const ChatMessage> messages,
                              std::string_view user_message);

}  // namespace stackgate::guardrail
