#include "services/guardrail/actions/literal.hpp"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "services/guardrail/prompts/history.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::guardrail {
namespace {

using jinja::Value;

Value value_of(const json::Value& from) {
  switch (from.type()) {
    case json::Type::null:
      return jinja::None{};
    case json::Type::boolean:
      return from.boolean();
    case json::Type::integer:
      return from.integer();
    case json::Type::number:
      return from.number();
    case json::Type::string:
      return from.string();
    case json::Type::array: {
      std::vector<Value> items;
      for (const json::Value& each : from.items()) items.push_back(value_of(each));
      return std::make_shared<const jinja::List>(std::move(items));
    }
    case json::Type::object:
      break;
  }
  const auto out = std::make_shared<jinja::Dict>();
  for (const json::Member& each : from.members()) out->set(Value(each.key), value_of(each.value));
  return jinja::DictPtr(out);
}

}  // namespace

Value read_literal(std::string_view text) {
  text = trimmed(text);
  if (ascii::equal_ignoring_case(text, "true")) return true;
  if (ascii::equal_ignoring_case(text, "false")) return false;
  if (text == "None" || text == "null") return jinja::None{};
  json::Document document;
  if (const auto read = json::parse(text, document, {.max_depth = 32})) return value_of(*read);
  if (text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\''))
    return Value(text.substr(1, text.size() - 2));
  return Value(text);
}

}  // namespace stackgate::guardrail
