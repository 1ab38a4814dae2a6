#include <algorithm>

#include "services/guardrail/api/message.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {
namespace {

/// What a turn's history calls it; "" for what is no part of it.
std::string_view history_role(Role role) {
  switch (role) {
    case Role::system:
    case Role::developer:
      return "system";
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    default:
      return {};
  }
}

bool goes_upstream(Role role) { return role != Role::context && role != Role::event && role != Role::exception; }

std::size_t last_of_user(std::span<const ChatMessage> messages) {
  std::size_t at = messages.size();
  while (at > 0 && messages[at - 1].role != Role::user) --at;
  return at == 0 ? messages.size() : at - 1;
}

std::size_t last_that_goes_upstream(std::span<const ChatMessage> messages) {
  std::size_t at = messages.size();
  while (at > 0 && !goes_upstream(messages[at - 1].role)) --at;
  return at == 0 ? messages.size() : at - 1;
}

bool only_calls(const ChatMessage& message) { return message.text.empty() && !message.tool_calls.empty(); }

bool is_text_part(const json::Value& part) { return json::text_at(part, "type") == "text"; }

/// The text of `parts` from `at` on as long as they are texts; `at` becomes the first that is none.
std::string joined(std::span<const json::Value> parts, std::size_t& at) {
  std::string out(json::text_at(parts[at], "text"));
  for (++at; at < parts.size() && is_text_part(parts[at]); ++at)
    out.append("\n").append(json::text_at(parts[at], "text"));
  return out;
}

void write_text_part(json::Writer& w, std::string_view text) {
  w.object([&] {
    w.member("type", "text");
    w.member("text", text);
  });
}

void write_parts(json::Writer& w, std::span<const json::Value> parts, std::optional<std::string_view> text) {
  bool replaced = false;
  w.array([&] {
    for (std::size_t i = 0; i < parts.size();) {
      if (!is_text_part(parts[i])) {
        w.value(parts[i++]);
        continue;
      }
      const std::string own = joined(parts, i);
      if (!text) write_text_part(w, own);
      if (text && !replaced) write_text_part(w, *text);
      replaced = true;
    }
    if (text && !replaced && !text->empty()) write_text_part(w, *text);
  });
}

void write_message(json::Writer& w, const ChatMessage& message, std::optional<std::string_view> text) {
  json::Document document;
  const auto root = json::parse(message.json, document);
  if (!root) return w.value(nullptr);  // it was written by us
  const json::Value* content = root->find("content");
  if (content == nullptr || content->is_null() || (content->is_string() && !text)) return w.raw(message.json);
  w.object([&] {
    for (const json::Member& each : root->members()) {
      w.key(each.key);
      if (each.key != "content")
        w.value(each.value);
      else if (content->is_array())
        write_parts(w, content->items(), text);
      else
        w.value(*text);
    }
  });
}

}  // namespace

TurnParts turn_parts(std::span<const ChatMessage> messages) {
  TurnParts out;
  const std::size_t user = last_of_user(messages);
  const std::size_t last = last_that_goes_upstream(messages);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& each = messages[i];
    const bool behind = user == messages.size() || i > user;
    if (each.event) out.events.push_back(*each.event);
    if (i == user) {
      out.user_message = each.text;
    } else if (i == last && each.role == Role::assistant) {
      out.bot_message = each.text;
      out.tool_calls = each.tool_calls;
    } else if (behind && (each.role == Role::tool || each.role == Role::function)) {
      out.tool_results.push_back(each);
    } else if (const auto role = history_role(each.role); !role.empty() && !only_calls(each)) {
      out.history.push_back({.role = std::string(role), .content = each.text});
    }
  }
  return out;
}

std::string upstream_messages(std::span<const Message> first, std::span<const ChatMessage> messages,
                              std::string_view user_message) {
  std::string out;
  json::Writer w(out);
  const std::size_t user = last_of_user(messages);
  w.array([&] {
    for (const Message& each : first)
      w.object([&] {
        w.member("role", each.role);
        w.member("content", each.content);
      });
    for (std::size_t i = 0; i < messages.size(); ++i)
      if (goes_upstream(messages[i].role))
        write_message(w, messages[i],
                      i == user && messages[i].text != user_message ? std::optional(user_message) : std::nullopt);
  });
  return out;
}

}  // namespace stackgate::guardrail
