#include "services/guardrail/api/hiding.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "services/kit/base/replace_all.hpp"

namespace stackgate::guardrail {

std::string Hiding::text(std::string_view text) const {
  std::string out(text);
  for (const std::string& each : turn_.hidden) out = replace_all(out, each, hidden_text);
  return out;
}

jinja::Value Hiding::value(const jinja::Value& value) const {
  if (turn_.hidden.empty()) return value;
  if (value.text() != nullptr) return jinja::Value(text(value.bytes()));
  if (const auto* list = value.list()) {
    std::vector<jinja::Value> items;
    for (const jinja::Value& each : (*list)->items) items.push_back(this->value(each));
    return jinja::Value(std::make_shared<const jinja::List>(std::move(items), (*list)->form));
  }
  if (const auto* dict = value.dict()) {
    const auto out = std::make_shared<jinja::Dict>();
    for (const auto& [key, item] : (*dict)->items) out->set(this->value(key), this->value(item));
    return jinja::Value(jinja::DictPtr(out));
  }
  return value;
}

jinja::Value Hiding::variable(std::string_view name, const jinja::Value& value) const {
  const bool of_answer = name == "generated_message" || name == "generated_tool_calls" || name == "tool_calls";
  return turn_.hides_answer && of_answer ? jinja::Value(jinja::None{}) : this->value(value);
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
