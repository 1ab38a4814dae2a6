#include "services/model/chat/messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/base/try.hpp"
#include "services/kit/jinja/from_value.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::model {
namespace {

using jinja::Dict;
using jinja::DictPtr;
using jinja::List;
using jinja::ListPtr;
using jinja::Value;
using Made = std::expected<Value, ChatFault>;

std::unexpected<ChatFault> fault(std::string param, std::string message) {
  return std::unexpected(ChatFault{std::move(param), std::move(message)});
}

Value list_of(std::vector<Value> items) { return ListPtr(std::make_shared<const List>(std::move(items))); }

Value text_part(std::string_view text) {
  auto part = std::make_shared<Dict>();
  part->set("type", "text");
  part->set("text", text);
  return DictPtr(std::move(part));
}

Made any_value(const json::Value& json, const std::string& param) {
  auto value = jinja::from_json(json);
  if (!value) return fault(param, value.error().message);
  return std::move(*value);
}

/// The text of each part; anything but text is a fault.
std::expected<std::vector<std::string_view>, ChatFault> texts_of(const json::Value& content, const std::string& at) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < content.items().size(); ++i) {
    const json::Value& part = content.items()[i];
    const std::string place = fmt::format("{}[{}]", at, i);
    const json::Value* text = part.is_object() ? part.find("text") : &part;
    if (part.is_object() && json::text_at(part, "type") != "text")
      return fault(place + ".type", fmt::format("the part \"{}\" is not served, this model reads text: write {}",
                                                json::text_at(part, "type"), R"({"type": "text", "text": …})"));
    if (text == nullptr || !text->is_string())
      return fault(place + ".text", "must be a text: write {\"type\": \"text\", \"text\": …}");
    out.push_back(text->string());
  }
  return out;
}

Made content_value(const json::Value* content, ContentForm form, const std::string& at) {
  std::vector<std::string_view> texts;
  const bool is_list = content != nullptr && content->is_array();
  if (is_list)
    texts = TRY(texts_of(*content, at));
  else if (content != nullptr && content->is_string())
    texts = {content->string()};
  else if (content != nullptr && !content->is_null())
    return fault(at, "must be a text or a list of parts: write a text");
  if (form == ContentForm::parts || (form == ContentForm::either && is_list)) {
    std::vector<Value> parts;
    parts.reserve(texts.size());
    for (const std::string_view text : texts) parts.push_back(text_part(text));
    return list_of(std::move(parts));
  }
  return Value(fmt::format("{}", fmt::join(texts, "\n")));
}

Made arguments_value(std::string_view text, const std::string& at) {
  json::Document document;
  const auto arguments = json::parse(text.empty() ? "{}" : text, document);
  if (!arguments || !arguments->is_object())
    return fault(at, "must be the text of a JSON object: write \"{}\" for none");
  return any_value(*arguments, at);
}

/// {"name": …, "arguments": "{\"a\": 1}"} with the arguments as an object.
Made function_value(const json::Value& function, const std::string& at) {
  auto out = std::make_shared<Dict>();
  for (const json::Member& each : function.members()) {
    const std::string place = fmt::format("{}.{}", at, each.key);
    const bool is_text = each.key == "arguments" && each.value.is_string();
    Value value = TRY(is_text ? arguments_value(each.value.string(), place) : any_value(each.value, place));
    out->set(Value(each.key), std::move(value));
  }
  return Value(DictPtr(std::move(out)));
}

Made tool_calls_value(const json::Value& calls, const std::string& at) {
  if (!calls.is_array()) return fault(at, "must be a list");
  std::vector<Value> out;
  for (std::size_t i = 0; i < calls.items().size(); ++i) {
    const std::string place = fmt::format("{}[{}]", at, i);
    const json::Value& call = calls.items()[i];
    if (!call.is_object()) return fault(place, "must be an object with a \"function\"");
    auto made = std::make_shared<Dict>();
    for (const json::Member& each : call.members()) {
      const std::string member = fmt::format("{}.{}", place, each.key);
      const bool is_function = each.key == "function" && each.value.is_object();
      Value value = TRY(is_function ? function_value(each.value, member) : any_value(each.value, member));
      made->set(Value(each.key), std::move(value));
    }
    out.emplace_back(DictPtr(std::move(made)));
  }
  return list_of(std::move(out));
}

Made message_value(const json::Value& message, ContentForm form, const std::string& at) {
  if (!message.is_object()) return fault(at, "must be an object with \"role\" and \"content\"");
  if (json::text_at(message, "role").empty()) return fault(at + ".role", "must be a text: \"user\", for example");
  auto out = std::make_shared<Dict>();
  for (const json::Member& each : message.members()) {
    const std::string place = fmt::format("{}.{}", at, each.key);
    if (each.key == "content" || each.value.is_null()) continue;
    Value value = TRY(each.key == "tool_calls" ? tool_calls_value(each.value, place) : any_value(each.value, place));
    out->set(Value(each.key), std::move(value));
  }
  Value content = TRY(content_value(message.find("content"), form, at + ".content"));
  out->set("content", std::move(content));
  return Value(DictPtr(std::move(out)));
}

}  // namespace

Made messages_value(const json::Value& messages, ContentForm form) {
  if (!messages.is_array() || messages.items().empty())
    return fault("messages", "must be a list of at least one message");
  std::vector<Value> out;
  for (std::size_t i = 0; i < messages.items().size(); ++i)
    out.push_back(TRY(message_value(messages.items()[i], form, fmt::format("messages[{}]", i))));
  return list_of(std::move(out));
}

}  // namespace stackgate::model
