// Values of templates, written shortly.
#pragma once
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/jinja/value.hpp"

namespace stackgate::guardrail::test {

inline jinja::Value dict(std::initializer_list<std::pair<std::string_view, jinja::Value>> members) {
  auto out = std::make_shared<jinja::Dict>();
  for (const auto& [key, value] : members) out->set(jinja::Value(key), value);
  return {jinja::DictPtr(std::move(out))};
}

inline jinja::Value list(std::vector<jinja::Value> items) {
  return {jinja::ListPtr(std::make_shared<const jinja::List>(std::move(items)))};
}

inline jinja::Value user(std::string_view text) {
  return dict({{"type", "UserMessage"}, {"text", jinja::Value(text)}});
}
inline jinja::Value user_intent(std::string_view name) {
  return dict({{"type", "UserIntent"}, {"intent", jinja::Value(name)}});
}
inline jinja::Value bot_intent(std::string_view name) {
  return dict({{"type", "BotIntent"}, {"intent", jinja::Value(name)}});
}
inline jinja::Value bot(std::string_view text) {
  return dict({{"type", "StartUtteranceBotAction"}, {"script", jinja::Value(text)}});
}

}  // namespace stackgate::guardrail::test
