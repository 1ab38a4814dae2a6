#include <fmt/format.h>

#include "services/inference/api/chat_request.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::inference {
namespace {

using validate::JsonPlace;

void check_part(Fields& fields, const JsonPlace& at) {
  const std::string_view type = json::text_at(at.value, "type");
  if (type.empty()) return fields.wrong_type(at, "a part with \"type\": \"text\" and \"text\"");
  if (type != "text")
    return fields.not_served(at, fmt::format("is a part of type \"{}\"", type), "send parts of type \"text\"");
  const json::Value* text = at.value.find("text");
  if (text == nullptr || !text->is_string()) fields.wrong_type(at, "a part with \"text\"");
}

void check_content(Fields& fields, const JsonPlace& message) {
  const json::Value* content = message.value.find("content");
  if (content == nullptr || content->is_null()) {
    if (json::text_at(message.value, "role") == "assistant") return;  // it may have called tools, and said nothing
    return fields.wrong(message.member("content", message.value), "is missing", "write \"content\"");
  }
  if (content->is_string()) return;
  const JsonPlace at = message.member("content", *content);
  if (!content->is_array()) return fields.wrong_type(at, "a text, or a list of parts");
  for (std::size_t i = 0; i < content->items().size(); ++i)
    check_part(fields, message.item("content", i, content->items()[i]));
}

void check_calls(Fields& fields, const JsonPlace& message) {
  const json::Value* calls = message.value.find("tool_calls");
  if (calls == nullptr || calls->is_null()) return;
  if (!calls->is_array()) return fields.wrong_type(message.member("tool_calls", *calls), "a list");
  for (std::size_t i = 0; i < calls->items().size(); ++i) {
    const json::Value& each = calls->items()[i];
    const json::Value* arguments = json::at(&each, {"function", "arguments"});
    if (json::text(&each, {"function", "name"}).empty() ||
        (arguments != nullptr && !arguments->is_string() && !arguments->is_object()))
      fields.wrong_type(message.item("tool_calls", i, each), "an object with \"function\": {\"name\", \"arguments\"}");
  }
}

void check_message(Fields& fields, const JsonPlace& at) {
  if (!at.value.is_object() || json::text_at(at.value, "role").empty())
    return fields.wrong_type(at, "an object with \"role\" and \"content\"");
  check_content(fields, at);
  check_calls(fields, at);
}

}  // namespace

TemplateInput read_template_input(Fields& fields) {
  TemplateInput out;
  out.messages = fields.tree("messages", json::Type::array);
  if (const json::Value* messages = fields.find("messages")) {
    if (messages->is_array() && messages->items().empty())
      fields.wrong("messages", "is empty", "write at least one message");
    for (std::size_t i = 0; i < messages->items().size(); ++i)
      check_message(fields, {fmt::format("messages[{}]", i), messages->items()[i]});
  }
  out.tools = fields.asks("tools") ? fields.tree("tools", json::Type::array) : "";
  out.documents = fields.tree("documents", json::Type::array);
  out.arguments = fields.tree("chat_template_kwargs", json::Type::object);
  out.add_generation_prompt = fields.flag("add_generation_prompt", true);
  if (fields.asks("chat_template"))
    fields.not_served(fields.place("chat_template"), "is not taken from a request",
                      "start the server with --chat-template FILE");
  if (fields.asks("continue_final_message"))
    fields.not_served(fields.place("continue_final_message"), "is not served",
                      "render the chat yourself, and use /v1/completions");
  return out;
}

}  // namespace stackgate::inference
