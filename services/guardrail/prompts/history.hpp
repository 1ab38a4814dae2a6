// A conversation in Colang's form, a line for each step, and what is made of it. Pure.
//
//   user "Hello"
//     express greeting
//   bot express greeting
//     "Hi there"
//
// A text stands in one line: its quotes, line ends and backslashes are escaped, so that nothing that a user or a model
// wrote is taken for a step. Source: llm/filters.py of NeMo Guardrails, which does not escape.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/prompts/task.hpp"
#include "services/kit/jinja/value.hpp"

namespace stackgate::guardrail {

std::string escaped(std::string_view text);
/// The text between the first quote and the last one, without escapes; all of it when there are no quotes.
std::string unquoted(std::string_view text);
std::string_view trimmed(std::string_view text);

// Of events: dicts with a `type`. What the user said is UserMessage (`text`), or, where there is none,
// UtteranceUserActionFinished (`final_transcript`).
std::string user_assistant_sequence(const jinja::Value& events, bool nemo_markers = false);
std::vector<Message> chat_messages(const jinja::Value& events);
std::string colang_v2_history(const jinja::Value& events);

// Of a history in Colang's form.
std::string verbose(std::string_view history);
std::vector<Message> messages_of(std::string_view history);
std::string without_texts(std::string_view history);
std::string first_turns(std::string_view history, std::int64_t turns);
std::string last_turns(std::string_view history, std::int64_t turns);
enum class IntentMessages : std::uint8_t { intents, texts_and_bot_intents };
std::vector<Message> intent_messages(std::string_view history, IntentMessages which);

/// `<tag>` line end text line end `</tag>`; whatever in the text could be taken for such a tag is made harmless.
std::string delimited(std::string_view text, std::string_view tag);

}  // namespace stackgate::guardrail
