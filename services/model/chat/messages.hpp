// Messages of a request in the form that a template wants. Pure.
#pragma once
#include <cstdint>
#include <expected>

#include "services/kit/jinja/value.hpp"
#include "services/kit/json/value.hpp"
#include "services/model/chat/chat_templates.hpp"

namespace stackgate::model {

/// What a template does with "content".
enum class ContentForm : std::uint8_t {
  text,    // takes texts only: the parts of a list are joined with line ends
  either,  // takes texts and lists as they come
  parts,   // takes lists only: a text becomes a list of one part
};

/// As a template's variable. Checks roles and parts; null members go, a missing content is empty, and the arguments of
/// tool calls, which OpenAI's clients send as a text, are read, as vLLM does.
std::expected<jinja::Value, ChatFault> messages_value(const json::Value& messages, ContentForm form);

}  // namespace stackgate::model
