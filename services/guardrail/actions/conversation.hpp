// A conversation as prompts and models get it. Pure.
#pragma once
#include <string>
#include <vector>

#include "services/guardrail/actions/actions.hpp"

namespace stackgate::guardrail {

/// Events for the templates' `history`: the earlier messages, this turn's message and what is known of its intent.
jinja::Value history_events(const ActionEnvironment& environment, const SharedVariables& context,
                            std::string_view bot_intent = {});

/// What a prompt's templates see, as far as they name it: the variables, and above them user_input, bot_response,
/// history, general_instructions, sample_conversation, relevant_chunks, and `values`.
jinja::Value task_context(const Prompt& prompt, const ActionEnvironment& environment, const SharedVariables& context,
                          const Variables& values);

/// The messages of a plain answer: instructions and knowledge (not with passthrough) as system messages, then the
/// conversation, in which the user's message is what the input rails made of it.
struct Conversation {
  std::vector<Message> before{};
  std::string messages{};  // JSON array; the rest
};
Conversation plain_conversation(const ActionEnvironment& environment, const SharedVariables& context);

/// "name(arguments)" of each tool call of a message, a line each.
std::string tool_calls_text(std::string_view message);
/// One of them, with its line end. What would end the name or the line is replaced, so that the name that a rail reads
/// is never another one.
std::string tool_call_line(std::string_view name, std::string_view arguments);

}  // namespace stackgate::guardrail
