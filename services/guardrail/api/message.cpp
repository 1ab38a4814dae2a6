#include "services/guardrail/api/message.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/guardrail/api/limits.hpp"
#include "services/kit/jinja/from_value.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {
namespace {

using validate::JsonPlace;

constexpr std::array<std::string_view, 9> role_names = {"system",   "developer", "user",  "assistant", "tool",
                                                        "function", "context",   "event", "exception"};

std::optional<Role> read_role(std::string_view name) {
  const auto found = std::ranges::find(role_names, name);
  if (found == role_names.end()) return std::nullopt;
  return static_cast<Role>(found - role_names.begin());
}

bool is_given(const json::Value* value) { return value != nullptr && !value->is_null(); }

// Images are passed on. What else is no text is refused: no rail would see it.
void read_part(Fields& fields, const JsonPlace& at, Role role, std::string& text, bool& first) {
  const std::string_view type = json::text_at(at.value, "type");
  if (type.empty()) return fields.wrong_type(at, "a part with \"type\": \"text\" and \"text\"");
  if (type == "image_url") return;
  if (type != "text" && (type != "refusal" || role != Role::assistant))
    return fields.not_served(at, "is a part that no rail can check", "send parts of type \"text\" or \"image_url\"");
  const json::Value* found = at.value.find(type);
  if (found == nullptr || !found->is_string()) return fields.wrong_type(at, fmt::format("a part with \"{}\"", type));
  if (!first) text += '\n';
  text += found->string();
  first = false;
}

std::string read_content(Fields& fields, const JsonPlace& message, Role role) {
  const json::Value* content = message.value.find("content");
  if (!is_given(content)) {
    const bool has_other_content = is_given(message.value.find("tool_calls")) ||
                                   is_given(message.value.find("function_call")) ||
                                   is_given(message.value.find("refusal"));
    if (role == Role::function || (role == Role::assistant && has_other_content)) return {};
    fields.wrong(message.member("content", message.value), "is missing", "write \"content\"");
    return {};
  }
  if (content->is_string()) return std::string(content->string());
  const JsonPlace at = message.member("content", *content);
  if (!content->is_array()) return fields.wrong_type(at, "a text, or a list of parts"), "";
  if (content->items().size() > most_parts) {
    fields.wrong(at, fmt::format("has {} parts", content->items().size()), fmt::format("send at most {}", most_parts));
    return {};
  }
  std::string text;
  bool first = true;
  for (std::size_t i = 0; i < content->items().size(); ++i)
    read_part(fields, message.item("content", i, content->items()[i]), role, text, first);
  return text;
}

// {"id", "function": {"name", "arguments"}}; arguments may be an object in older clients.
void read_call(Fields& fields, const JsonPlace& at, std::vector<ToolCall>& out) {
  const json::Value* arguments = json::at(&at.value, {"function", "arguments"});
  const std::string_view name = json::text(&at.value, {"function", "name"});
  if (name.empty() || (is_given(arguments) && !arguments->is_string() && !arguments->is_object()))
    return fields.wrong_type(at, "an object with \"function\": {\"name\", \"arguments\"}");
  out.push_back({.id = std::string(json::text_at(at.value, "id")), .name = std::string(name), .arguments = {}});
  if (is_given(arguments))
    out.back().arguments = arguments->is_string() ? std::string(arguments->string()) : json::to_json(*arguments);
}

std::vector<ToolCall> read_calls(Fields& fields, const JsonPlace& message) {
  std::vector<ToolCall> out;
  const json::Value* calls = message.value.find("tool_calls");
  if (!is_given(calls)) return out;
  const JsonPlace at = message.member("tool_calls", *calls);
  if (!calls->is_array() || calls->items().size() > most_tool_calls)
    return fields.wrong_type(at, fmt::format("a list of at most {}", most_tool_calls)), out;
  for (std::size_t i = 0; i < calls->items().size(); ++i)
    read_call(fields, message.item("tool_calls", i, calls->items()[i]), out);
  return out;
}

/// Members of an object as variables.
void read_variables(Fields& fields, const JsonPlace& at, Variables& out) {
  if (!at.value.is_object()) return fields.wrong_type(at, "an object");
  for (const json::Member& each : at.value.members()) {
    auto value = jinja::from_json(each.value, deepest_value);
    if (!value)
      return fields.wrong(at.member(each.key, each.value), fmt::format("is nested more than {} times", deepest_value),
                          "send what is flatter");
    out.insert_or_assign(std::string(each.key), std::move(*value));
  }
}

// {"role": "event", "event": {"type", …}}
std::optional<Event> read_event(Fields& fields, const JsonPlace& message) {
  const json::Value* found = message.value.find("event");
  if (found == nullptr || json::text_at(*found, "type").empty()) {
    fields.wrong_type(message, "an object with \"event\": {\"type\"}");
    return std::nullopt;
  }
  Event out{.type = std::string(json::text_at(*found, "type"))};
  read_variables(fields, message.member("event", *found), out.values);
  out.values.erase("type");
  return out;
}

void read_message(Fields& fields, const JsonPlace& at, Variables& context, std::vector<ChatMessage>& out) {
  const auto role = read_role(json::text_at(at.value, "role"));
  if (!role)
    return fields.wrong_type(
        at, "an object with \"content\" and \"role\": system, developer, user, assistant, tool, context or event");
  ChatMessage message{.role = *role, .json = json::to_json(at.value)};
  switch (*role) {
    case Role::exception:
      break;
    case Role::context:
      read_variables(fields, at.member("content", json::value_at(&at.value, {"content"})), context);
      break;
    case Role::event:
      message.event = read_event(fields, at);
      break;
    default:
      message.text = read_content(fields, at, *role);
      message.tool_calls = read_calls(fields, at);
      message.tool_call_id = json::text_at(at.value, "tool_call_id");
      message.name = json::text_at(at.value, "name");
  }
  out.push_back(std::move(message));
}

}  // namespace

std::string_view to_string(Role role) { return role_names[static_cast<std::size_t>(role)]; }

std::vector<ChatMessage> read_messages(Fields& body, Variables& context) {
  std::vector<ChatMessage> out;
  const json::Value* found = body.find("messages");
  if (found == nullptr || (found->is_array() && found->items().empty())) {
    body.missing("messages", "write a list of {\"role\", \"content\"}");
    return out;
  }
  if (!found->is_array()) return body.wrong_type(body.place("messages"), "a list"), out;
  if (found->items().size() > most_messages) {
    body.wrong("messages", fmt::format("has {} messages", found->items().size()),
               fmt::format("send at most {}", most_messages));
    return out;
  }
  for (std::size_t i = 0; i < found->items().size(); ++i)
    read_message(body, {fmt::format("messages[{}]", i), found->items()[i]}, context, out);
  return out;
}

}  // namespace stackgate::guardrail
