// The filters of prompts, over the functions of history.hpp.
#include "services/guardrail/prompts/history.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

using jinja::Value;
using Answer = std::expected<Value, std::string>;

Answer wrong(std::string_view filter, std::string_view wanted) {
  return std::unexpected(concat({filter, " works on ", wanted}));
}

/// Of events; none and undefined are no events.
template <class Work>
jinja::Function of_events(std::string_view name, Work work) {
  return [=](const jinja::Arguments& arguments) -> Answer {
    const Value& events = arguments.positional.front();
    if (events.list() == nullptr && !events.is_none() && !events.is_undefined())
      return wrong(name, "a list of events: {{ history | " + std::string(name) + " }}");
    return work(events);
  };
}

template <class Work>
jinja::Function of_text(std::string_view name, Work work) {
  return [=](const jinja::Arguments& arguments) -> Answer {
    const Value& text = arguments.positional.front();
    if (text.text() == nullptr && !text.is_none() && !text.is_undefined())
      return wrong(name, "a conversation in Colang's form: {{ history | colang | " + std::string(name) + " }}");
    return work(text.bytes(), arguments);
  };
}

template <class Work>
jinja::Function of_turns(std::string_view name, Work work) {
  return of_text(name, [=](std::string_view text, const jinja::Arguments& arguments) -> Answer {
    const Value* turns = arguments.positional.size() > 1 ? &arguments.positional[1]
                         : !arguments.named.empty()      ? &arguments.named.front().second
                                                         : nullptr;
    if (turns == nullptr || turns->integer() == nullptr || *turns->integer() < 0)
      return std::unexpected(concat({name, " wants the number of turns: ", name, "(2)"}));
    return Value(work(text, *turns->integer()));
  });
}

Value list_of(const std::vector<Message>& messages, std::string_view role_key) {
  std::vector<Value> items;
  items.reserve(messages.size());
  for (const Message& each : messages) {
    auto dict = std::make_shared<jinja::Dict>();
    dict->set(Value(role_key), Value(each.role));
    dict->set(Value("content"), Value(each.content));
    items.emplace_back(jinja::DictPtr(std::move(dict)));
  }
  return Value(jinja::ListPtr(std::make_shared<const jinja::List>(std::move(items))));
}

std::string without_trailing_line_end(std::string_view text) {
  return std::string(text.ends_with('\n') ? text.substr(0, text.size() - 1) : text);
}

std::string nemo_messages(std::string_view history) {
  std::string out;
  for (Message& each : messages_of(history)) {
    for (std::size_t at = 0; (at = each.content.find("<extra_id_", at)) != std::string::npos; ++at)
      each.content.insert(at + 1, " ");
    out += concat({"<extra_id_1>", each.role == "user" ? "User" : "Assistant", "\n", each.content, "\n"});
  }
  return out;
}

/// What is said of a conversation that a template writes down: [{"user": …, "user_intent": …, "bot_intent": …, "bot":
/// …}].
Answer events_of_conversation(const jinja::Arguments& arguments) {
  const Value& turns = arguments.positional.front();
  if (turns.list() == nullptr) return wrong("conversation_to_events", "a list of turns");
  std::vector<Value> events;
  const auto add = [&](const jinja::Dict& turn, std::string_view key, std::string_view type, std::string_view member) {
    const Value* said = turn.find(key);
    if (said == nullptr) return;
    auto event = std::make_shared<jinja::Dict>();
    event->set(Value("type"), Value(type));
    event->set(Value(member), *said);
    events.emplace_back(jinja::DictPtr(std::move(event)));
  };
  for (const Value& each : (*turns.list())->items) {
    if (each.dict() == nullptr) return wrong("conversation_to_events", "turns that are mappings");
    add(**each.dict(), "user", "UserMessage", "text");
    add(**each.dict(), "user_intent", "UserIntent", "intent");
    add(**each.dict(), "bot_intent", "BotIntent", "intent");
    add(**each.dict(), "bot", "StartUtteranceBotAction", "script");
  }
  return Value(jinja::ListPtr(std::make_shared<const jinja::List>(std::move(events))));
}

Answer delimit(const jinja::Arguments& arguments) {
  const Value& text = arguments.positional.front();
  const std::string_view tag = arguments.positional.size() > 1 ? arguments.positional[1].bytes() : "text";
  if (text.list() != nullptr || text.dict() != nullptr) return wrong("delimited", "a text");
  return Value(delimited(text.bytes(), tag));
}

jinja::Environment make_environment() {
  // As Jinja2 itself, not as chat templates have it.
  jinja::Environment out{.trim_blocks = false, .lstrip_blocks = false};
  auto& filters = out.filters;
  const auto text = [&](std::string_view name, std::string (*work)(std::string_view)) {
    filters.emplace(name, of_text(name, [work](auto history, auto&) { return Answer(Value(work(history))); }));
  };
  const auto events = [&](std::string_view name, auto work) {
    filters.emplace(name, of_events(name, [work](const Value& all) { return Answer(Value(work(all))); }));
  };
  const auto messages = [&](std::string_view name, auto work) {
    filters.emplace(name,
                    of_text(name, [work](auto history, auto&) { return Answer(list_of(work(history), "type")); }));
  };
  events("colang", colang_history);
  events("colang_without_identifiers", colang_history);
  events("co_v2", colang_v2_history);
  events("user_assistant_sequence", [](const Value& all) { return user_assistant_sequence(all); });
  events("user_assistant_sequence_nemollm", [](const Value& all) { return user_assistant_sequence(all, true); });
  events("to_chat_messages", [](const Value& all) { return list_of(chat_messages(all), "role"); });
  messages("to_messages", messages_of);
  messages("to_intent_messages", [](auto all) { return intent_messages(all, IntentMessages::intents); });
  messages("to_intent_messages_2",
           [](auto all) { return intent_messages(all, IntentMessages::texts_and_bot_intents); });
  text("to_messages_nemollm", nemo_messages);
  text("verbose_v1", verbose);
  text("remove_text_messages", without_texts);
  text("remove_trailing_new_line", without_trailing_line_end);
  filters.emplace("first_turns", of_turns("first_turns", first_turns));
  filters.emplace("last_turns", of_turns("last_turns", last_turns));
  filters.emplace("conversation_to_events", events_of_conversation);
  filters.emplace("delimited", delimit);
  return out;
}

}  // namespace

const jinja::Environment& prompt_environment() {
  static const jinja::Environment environment = make_environment();
  return environment;
}

jinja::Environment prompt_environment(const PromptCode& code) {
  jinja::Environment out = prompt_environment();
  out.late_filters.insert(code.filters.begin(), code.filters.end());
  out.unknown_filters_are_late = code.any_filter;
  return out;
}

}  // namespace stackgate::guardrail
