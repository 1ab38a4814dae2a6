#include "services/guardrail/api/hiding.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "services/kit/base/replace_all.hpp"

namespace stackgate::guardrail {

namespace {

constexpr std::size_t shortest_in_state = 16;  // "hi" is part of many values that the next turns need

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// What is shorter than `shortest` is taken out only where it is the whole text.
std::string without(const std::vector<std::string>& texts, std::string_view text, std::size_t shortest = 1) {
  std::string out(text);
  for (const std::string& each : texts)
    if (!each.empty() && (each.size() >= shortest || each == out)) out = replace_all(out, each, hidden_text);
  return out;
}

jinja::Value without(const std::vector<std::string>& texts, const jinja::Value& value, std::size_t shortest = 1) {
  if (texts.empty()) return value;
  if (value.text() != nullptr) return jinja::Value(without(texts, value.bytes(), shortest));
  if (const auto* list = value.list()) {
    std::vector<jinja::Value> items;
    for (const jinja::Value& each : (*list)->items) items.push_back(without(texts, each, shortest));
    return jinja::Value(std::make_shared<const jinja::List>(std::move(items), (*list)->form));
  }
  if (const auto* dict = value.dict()) {
    const auto out = std::make_shared<jinja::Dict>();
    for (const auto& [key, item] : (*dict)->items)
      out->set(without(texts, key, shortest), without(texts, item, shortest));
    return jinja::Value(jinja::DictPtr(out));
  }
  return value;
}

}  // namespace

std::string Hiding::text(std::string_view text) const { return without(turn_.hidden, text); }

jinja::Value Hiding::value(const jinja::Value& value) const { return without(turn_.hidden, value); }

jinja::Value Hiding::variable(std::string_view name, const jinja::Value& value) const {
  const bool of_answer = name == "generated_message" || name == "generated_tool_calls" || name == "tool_calls";
  const bool is_hidden = (turn_.hides_answer && of_answer) || holds(turn_.concealed, name);
  return is_hidden ? jinja::Value(jinja::None{}) : this->value(value);
}

DialogState Hiding::state() const {
  DialogState out{.waiting = turn_.state.waiting, .planned = turn_.state.planned};
  for (const auto& [name, each] : turn_.state.variables) {
    if (holds(turn_.concealed, name) || holds(turn_.unkept, name)) continue;
    out.variables.emplace_hint(
        out.variables.end(), name,
        without(turn_.unkept_texts, without(turn_.hidden, each, shortest_in_state), shortest_in_state));
  }
  return out;
}

/// Checks of the answer are asked about all of it.
std::string Hiding::prompt(const ModelCall& call, RailType rail) const {
  return turn_.hides_answer && rail == RailType::output ? std::string(hidden_text) : text(call.prompt);
}

/// The answer itself, or what the model says when it is asked again; verdicts of checks are shown.
std::string Hiding::completion(const ModelCall& call) const {
  const bool is_answer = call.task.starts_with("gener") || call.task.ends_with("_sample");
  return turn_.hides_answer && is_answer ? std::string(hidden_text) : text(call.completion);
}

}  // namespace stackgate::guardrail
