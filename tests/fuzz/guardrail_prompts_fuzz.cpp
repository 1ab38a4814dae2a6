// What users and models write, in the default prompts and in a template of the input's own: rendered or refused, never
// read as a template; and the answers' parsers. Parts are parted by lines "@@": a template, then texts.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/prompts/history.hpp"
#include "services/guardrail/prompts/lines.hpp"
#include "services/guardrail/prompts/task.hpp"

using namespace stackgate;
using namespace stackgate::guardrail;

namespace {

std::vector<std::string> parted(std::string_view text) {
  std::vector<std::string> out(1);
  for (const std::string_view line : lines_of(text)) {
    if (line == "@@")
      out.emplace_back();
    else
      out.back().append(out.back().empty() ? "" : "\n").append(line);
  }
  out.resize(4);
  return out;
}

jinja::Value event(std::string_view type, std::string_view key, const std::string& text) {
  auto out = std::make_shared<jinja::Dict>();
  out->set(jinja::Value("type"), jinja::Value(type));
  out->set(jinja::Value(key), jinja::Value(text));
  return {jinja::DictPtr(std::move(out))};
}

/// All that templates see; `hidden` is what none of the defaults shows.
jinja::Value values_of(const std::string& user, const std::string& bot, const std::string& other) {
  auto out = std::make_shared<jinja::Dict>();
  for (const std::string_view name : {"user_input", "statement", "potential_user_intents", "var_name"})
    out->set(jinja::Value(name), jinja::Value(user));
  for (const std::string_view name : {"bot_response", "response", "paragraph", "bot_intent"})
    out->set(jinja::Value(name), jinja::Value(bot));
  for (const std::string_view name :
       {"evidence", "examples", "relevant_chunks", "general_instructions", "instructions", "sample_conversation"})
    out->set(jinja::Value(name), jinja::Value(other));
  out->set(jinja::Value("hidden"), jinja::Value("\x01xyzzy\x01"));
  const jinja::Value history(std::make_shared<const jinja::List>(
      std::vector<jinja::Value>{event("UserMessage", "text", user), event("UserIntent", "intent", other),
                                event("StartUtteranceBotAction", "script", bot), event("UserMessage", "text", other)}));
  out->set(jinja::Value("history"), history);
  return {jinja::DictPtr(std::move(out))};
}

void check_messages(const Rendered& rendered, const Prompt& prompt) {
  if (rendered.messages.empty()) std::abort();
  for (const Message& each : rendered.messages) {
    if (each.role.empty() || each.content.empty()) std::abort();
    if (prompt.built_in && each.content.contains("\x01xyzzy\x01")) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parts = parted({reinterpret_cast<const char*>(data), size});
  const jinja::Value values = values_of(parts[1], parts[2], parts[3]);
  if (std::string_view(reinterpret_cast<const char*>(data), size).contains("\x01xyzzy\x01")) return 0;
  for (const Prompt& prompt : default_prompts()) {
    const auto rendered = render(prompt, values);
    if (rendered)
      check_messages(*rendered, prompt);
    else if (!rendered.error().too_long && !rendered.error().message.ends_with("says nothing"))
      std::abort();  // a default's template has no fault, whatever is put in
  }
  const CallCode code = [](CodeFunction, std::string_view name, const jinja::Arguments& arguments) {
    using Made = std::expected<jinja::Value, std::string>;
    return name == "fails" ? Made(std::unexpect, "as asked") : Made(arguments.positional.at(0));
  };
  for (auto* const make : {content_part, messages_part}) {
    auto part = make(parts[0], {.filters = {"loud", "upper", "fails"}, .any_filter = parts[3].empty()});
    if (!part) continue;
    Prompt prompt{.task = "self_check_input", .parts = {}};
    prompt.parts.push_back(std::move(*part));
    const auto rendered = render(prompt, values, code);
    if (rendered) check_messages(*rendered, prompt);
    if (render(prompt, values).has_value() && prompt.code_filters().empty() && !rendered) std::abort();
    if (!rendered && rendered.error().message.empty()) std::abort();
  }
  for (const std::string_view parser : known_parsers())
    for (const std::string_view task : known_tasks()) (void)parse_output(parser, task, parts[1]);
  for (const std::string_view task : known_tasks()) (void)parsed_by_code(task, values.dict()->get()->items[0].second);
  (void)read_intent_steps(parts[2]);
  for (const std::string& text : parts) {
    (void)verbose(text);
    (void)messages_of(text);
    (void)without_texts(text);
    if (first_turns(text, 1'000'000) != text && text.find('\r') == text.npos) std::abort();
    (void)last_turns(text, 1);
  }
  return 0;
}
