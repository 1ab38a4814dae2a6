#include "services/guardrail/colang/program.hpp"

#include <algorithm>

#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail::colang {
namespace {

using jinja::Arguments;
using jinja::Value;
using Outcome = std::expected<Value, std::string>;

constexpr jinja::Limits call_limits{.steps = 100'000, .output = 1U << 20U, .allocation = 16U << 20U};

// A function of one value that Jinja has as a filter: `formula` computes with `x`, and with `n`, the second argument.
jinja::Function by_formula(std::string_view name, std::string_view formula, std::size_t most = 1) {
  auto compiled = jinja::Expression::parse(formula);
  return [name = std::string(name), formula = *std::move(compiled), most](const Arguments& given) -> Outcome {
    if (given.positional.empty() || given.positional.size() > most)
      return std::unexpected(concat({name, "() takes ", most == 1 ? "one value" : "one or two values"}));
    auto context = std::make_shared<jinja::Dict>();
    context->set(Value("x"), given.positional[0]);
    if (given.positional.size() > 1) context->set(Value("n"), given.positional[1]);
    for (const auto& [key, value] : given.named) context->set(Value(key), value);
    auto result = formula.evaluate(Value(jinja::DictPtr(std::move(context))), call_limits);
    if (!result) return std::unexpected(concat({name, "(): ", result.error().message}));
    return *std::move(result);
  };
}

// The same of several values or of one list: min, max.
jinja::Function of_many(std::string_view name, std::string_view formula) {
  auto one = by_formula(name, formula);
  return [one = std::move(one)](const Arguments& given) -> Outcome {
    if (given.positional.size() == 1) return one(given);
    return one({.positional = {Value(std::make_shared<const jinja::List>(given.positional))}, .named = {}});
  };
}

jinja::Function any_or_all(std::string_view name, bool any) {
  return [name = std::string(name), any](const Arguments& given) -> Outcome {
    if (given.positional.size() != 1 || given.positional[0].list() == nullptr)
      return std::unexpected(concat({name, "() takes one list"}));
    const auto& items = (*given.positional[0].list())->items;
    const auto truth = [](const Value& value) { return value.truth(); };
    return Value(any ? std::ranges::any_of(items, truth) : std::ranges::all_of(items, truth));
  };
}

Outcome to_bool(const Arguments& given) {
  if (given.positional.size() != 1) return std::unexpected("bool() takes one value");
  return Value(given.positional[0].truth());
}

template <class List>
auto find_in(const List& list, const auto& index, std::string_view name) -> decltype(list.data()) {
  const auto found = index.find(name);
  return found == index.end() || found->second >= list.size() ? nullptr : &list[found->second];
}

}  // namespace

const Flow* Program::find_flow(std::string_view name) const { return find_in(flows, flow_by_name, name); }
const UserIntent* Program::find_user_intent(std::string_view name) const {
  return find_in(user_intents, user_intent_by_name, name);
}
const BotMessage* Program::find_bot_message(std::string_view name) const {
  return find_in(bot_messages, bot_message_by_name, name);
}

std::expected<Value, jinja::Fault> evaluate(const Expression& expression, const Value& context,
                                            const jinja::Limits& limits) {
  if (context.dict() != nullptr) {
    const jinja::Dict& known = **context.dict();
    const auto missing = [&](const std::string& name) { return known.find(std::string_view(name)) == nullptr; };
    if (std::ranges::any_of(expression.reads, missing)) {
      auto all = std::make_shared<jinja::Dict>(known);
      for (const std::string& name : expression.reads)
        if (missing(name)) all->set(Value(name), jinja::None());
      return expression.compiled.evaluate(Value(jinja::DictPtr(std::move(all))), limits);
    }
  }
  return expression.compiled.evaluate(context, limits);
}

const jinja::Environment& expression_environment() {
  static const jinja::Environment environment{
      .functions = {{"len", by_formula("len", "x|length")},
                    {"str", by_formula("str", "x|string")},
                    {"int", by_formula("int", "x|int")},
                    {"float", by_formula("float", "x|float")},
                    {"bool", to_bool},
                    {"abs", by_formula("abs", "x|abs")},
                    {"round", by_formula("round", "(x|round(n)) if n is defined else x|round|int", 2)},
                    {"sum", by_formula("sum", "x|sum")},
                    {"list", by_formula("list", "x|list")},
                    {"sorted", by_formula("sorted", "x|sort(reverse=reverse or false)")},
                    {"min", of_many("min", "x|min")},
                    {"max", of_many("max", "x|max")},
                    {"any", any_or_all("any", true)},
                    {"all", any_or_all("all", false)}}};
  return environment;
}

}  // namespace stackgate::guardrail::colang
