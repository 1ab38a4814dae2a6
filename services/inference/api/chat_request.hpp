// POST /v1/chat/completions. Messages, tools and what else a chat template reads are checked in their shape and kept as
// JSON.
#pragma once
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "services/inference/api/generation.hpp"

namespace stackgate::inference {

struct Tool {
  std::string name;
  std::string parameters;  // its JSON Schema; "" when it has none
};

struct ToolChoice {
  enum class Kind : std::uint8_t { none, automatic, required, named };
  Kind kind = Kind::none;
  std::string name = {};  // named
};

/// What a chat template is rendered from, as JSON texts; "" what the request does not have.
struct TemplateInput {
  std::string messages, tools, documents, arguments;  // arguments: chat_template_kwargs
  bool add_generation_prompt = true;
};

struct ChatRequest {
  Generation generation;
  TemplateInput chat;
  std::vector<Tool> tools;
  ToolChoice tool_choice;
};

/// All faults at once; the path of each begins with the parameter's name.
std::expected<ChatRequest, validate::Findings> read_chat(const json::Value& body, const ApiLimits& limits);

/// `messages`, `tools`, `documents`, `chat_template_kwargs` of any body that has them.
TemplateInput read_template_input(Fields& fields);

}  // namespace stackgate::inference
