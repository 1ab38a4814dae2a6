#include <algorithm>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/access.hpp"
#include "services/kit/jinja/machine.hpp"
#include "services/kit/jinja/objects.hpp"
#include "services/kit/jinja/operators.hpp"
#include "services/kit/jinja/print.hpp"
#include "services/kit/jinja/token.hpp"

namespace stackgate::jinja {
namespace {

constexpr std::size_t deepest_evaluation = 700;

bool is_hashable(const Value& value) {
  if (value.dict() != nullptr) return false;
  const auto* list = value.list();
  if (list == nullptr) return true;
  return (*list)->form != Form::list && std::ranges::all_of((*list)->items, is_hashable);
}

}  // namespace

Result Machine::eval(const Expr& expr) {
  const Nested level(nesting_);
  Result out = nesting_ > deepest_evaluation ? Result(limit_fault("the template is nested too deeply")) : Result();
  if (out) {
    auto paid = spend();
    out = paid ? eval_kind(expr) : Result(std::unexpected(std::move(paid).error()));
  }
  if (!out && out.error().line == 0) place(out.error(), program_.source, expr.at);
  return out;
}

Result Machine::eval_kind(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::constant:
      return expr.constant;
    case ExprKind::name:
      return eval_name(expr);
    case ExprKind::list:
    case ExprKind::tuple:
      return eval_sequence(expr);
    case ExprKind::dict:
      return eval_dict(expr);
    case ExprKind::attribute:
      return eval_attribute(expr);
    case ExprKind::item:
      return eval_item(expr);
    case ExprKind::slice:
      break;  // within item
    case ExprKind::call:
      return eval_call(expr);
    case ExprKind::filter:
      return eval_filter(expr);
    case ExprKind::test:
      return eval_test(expr);
    case ExprKind::condition:
      return eval_condition(expr);
    case ExprKind::negate: {
      const Value value = TRY(eval(*expr.parts[0]));
      return negated(value);
    }
    case ExprKind::plus: {
      const Value value = TRY(eval(*expr.parts[0]));
      const Value minus = TRY(negated(value));
      return whole(value) ? Value(*whole(value)) : value;
    }
    case ExprKind::logical_not:
      return Value(!TRY(holds(*expr.parts[0])));
    case ExprKind::logical_and:
    case ExprKind::logical_or:
      return eval_logical(expr);
    case ExprKind::compare:
      return eval_compare(expr);
    case ExprKind::binary: {
      const Value left = TRY(eval(*expr.parts[0]));
      const Value right = TRY(eval(*expr.parts[1]));
      return arithmetic(*this, expr.ops[0], left, right);
    }
    case ExprKind::concat:
      return eval_concat(expr);
  }
  return Value();
}

Result Machine::eval_name(const Expr& expr) {
  for (const Frame* frame = frame_.get(); frame != nullptr; frame = frame->parent.get()) {
    if (const Value* found = frame->find(expr.symbol)) return *found;
  }
  const Value& global = globals_[expr.symbol];
  return global.is_undefined() ? expr.missing : global;
}

Result Machine::eval_sequence(const Expr& expr) {
  std::vector<Value> items;
  items.reserve(expr.parts.size());
  for (const ExprPtr& part : expr.parts) items.push_back(TRY(eval(*part)));
  return list(std::move(items), expr.kind == ExprKind::tuple ? Form::tuple : Form::list);
}

Result Machine::eval_dict(const Expr& expr) {
  Dict out;
  for (std::size_t i = 0; i < expr.parts.size(); i += 2) {
    Value key = TRY(eval(*expr.parts[i]));
    if (!is_hashable(key)) return type_fault(concat({"\"", key.type_name(), "\" cannot be a key"}));
    TRY(spend(key.text() == nullptr ? 1 + out.items.size() * key.weight() / 4 : 1));
    Value value = TRY(eval(*expr.parts[i + 1]));
    out.set(std::move(key), std::move(value));
  }
  return dict(std::move(out));
}

Result Machine::eval_attribute(const Expr& expr) {
  const Value subject = TRY(eval(*expr.parts[0]));
  return attribute_of(*this, subject, expr.constant.bytes(), expr.missing);
}

Result Machine::eval_item(const Expr& expr) {
  const Value subject = TRY(eval(*expr.parts[0]));
  if (expr.parts[1]->kind == ExprKind::slice) return eval_slice(subject, *expr.parts[1]);
  const Value key = TRY(eval(*expr.parts[1]));
  return item_of(*this, subject, key);
}

Result Machine::eval_slice(const Value& subject, const Expr& slice) {
  std::optional<std::int64_t> ends[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (!slice.parts[i]) continue;
    const Value value = TRY(eval(*slice.parts[i]));
    if (value.is_none()) continue;
    if (value.is_undefined()) return undefined_fault(value);
    ends[i] = whole(value);
    if (!ends[i]) return Value();  // as Jinja2, which swallows the fault
  }
  if (ends[2] == 0) return type_fault("a slice with a step of 0");
  return slice_of(*this, subject, {ends[0], ends[1], ends[2].value_or(1)});
}

Status Machine::arguments_of(const Expr& expr, Arguments& out) {
  out.positional.reserve(expr.parts.size() - 1);
  for (std::size_t i = 1; i < expr.parts.size(); ++i) out.positional.push_back(TRY(eval(*expr.parts[i])));
  for (const auto& [name, part] : expr.named) {
    Value value = TRY(eval(*part));
    out.named.emplace_back(name, std::move(value));
  }
  if (expr.rest) {
    const Value rest = TRY(eval(*expr.rest));
    const ListPtr items = TRY(items_of(rest));
    TRY(allocate(items->items.size() * sizeof(Value)));
    out.positional.insert(out.positional.end(), items->items.begin(), items->items.end());
  }
  if (!expr.named_rest) return {};
  const Value rest = TRY(eval(*expr.named_rest));
  if (rest.dict() == nullptr) return type_fault("\"**\" wants a dict");
  for (const auto& [key, value] : (*rest.dict())->items) {
    TRY(allocate(sizeof(Value) + 64 + key.bytes().size()));
    if (key.text() == nullptr) return type_fault("the names of arguments must be texts");
    if (std::ranges::any_of(expr.named, [&](const auto& each) { return each.first == key.bytes(); }))
      return type_fault(concat({"the argument \"", key.bytes(), "\" is given twice"}));
    out.named.emplace_back(key.bytes(), value);
  }
  return {};
}

Result Machine::eval_call(const Expr& expr, const Value* caller) {
  const Expr& callee = *expr.parts[0];
  Arguments arguments;
  if (callee.kind == ExprKind::attribute) {  // a method need not become a value first
    const Value subject = TRY(eval(*callee.parts[0]));
    const Builtin method = subject.object() == nullptr ? find_method(subject, callee.constant.bytes()) : nullptr;
    const Value function =
        method != nullptr ? Value() : TRY(attribute_of(*this, subject, callee.constant.bytes(), callee.missing));
    TRY(arguments_of(expr, arguments));
    if (caller != nullptr) arguments.named.emplace_back("caller", *caller);
    if (method != nullptr) return method(*this, subject, arguments);
    return call(function, arguments);
  }
  const Value function = TRY(eval(callee));
  TRY(arguments_of(expr, arguments));
  if (caller != nullptr) arguments.named.emplace_back("caller", *caller);
  return call(function, arguments);
}

Result Machine::call(const Value& callee, Arguments& arguments) {
  if (callee.is_undefined()) return undefined_fault(callee);
  if (const auto* object = callee.object()) return (*object)->call(*this, arguments);
  return type_fault(concat({"\"", callee.type_name(), "\" cannot be called"}));
}

Result Machine::apply(const Callee& callee, const Value& subject, Arguments& arguments) {
  TRY(spend());
  if (callee.builtin != nullptr) return callee.builtin(*this, subject, arguments);
  return taken((*callee.registered)(arguments));
}

Result Machine::apply_late(std::string_view filter, const Arguments& arguments) {
  TRY(spend());
  if (!late_) return type_fault(concat({"the filter \"", filter, "\" is not there in this rendering"}));
  return taken(late_(filter, arguments));
}

Result Machine::taken(std::expected<Value, std::string> made) {
  if (!made) return type_fault(std::move(made).error());
  TRY(allocate(64 * std::min<std::uint64_t>(made->weight(), UINT32_MAX)));
  if (made->depth() > limits().value_depth) return limit_fault("values are nested too deeply");
  return *std::move(made);
}

Result Machine::eval_filter(const Expr& expr, const Value* subject) {
  Value input = subject != nullptr ? *subject : Value();
  if (expr.parts[0]) {
    const bool is_chain = subject != nullptr && expr.parts[0]->kind == ExprKind::filter;
    input = TRY(is_chain ? eval_filter(*expr.parts[0], subject) : eval(*expr.parts[0]));
  }
  Arguments arguments;
  if (expr.callee.builtin == nullptr) arguments.positional.push_back(input);
  TRY(arguments_of(expr, arguments));
  return expr.callee.late ? apply_late(expr.constant.bytes(), arguments) : apply(expr.callee, input, arguments);
}

Result Machine::eval_test(const Expr& expr) {
  const Value subject = TRY(eval(*expr.parts[0]));
  Arguments arguments;
  TRY(arguments_of(expr, arguments));
  return apply(expr.callee, subject, arguments);
}

std::expected<bool, Fault> Machine::truth(const Value& value) const {
  if (value.is_undefined() && environment().strict) return undefined_fault(value);
  return value.truth();
}

std::expected<bool, Fault> Machine::holds(const Expr& expr) {
  const Value value = TRY(eval(expr));
  return truth(value);
}

Result Machine::eval_condition(const Expr& expr) {
  if (TRY(holds(*expr.parts[0]))) return eval(*expr.parts[1]);
  if (!expr.parts[2]) return Value();
  return eval(*expr.parts[2]);
}

Result Machine::eval_logical(const Expr& expr) {
  Value left = TRY(eval(*expr.parts[0]));
  const bool is_true = TRY(truth(left));
  if (is_true == (expr.kind == ExprKind::logical_or)) return left;
  return eval(*expr.parts[1]);
}

Result Machine::eval_compare(const Expr& expr) {
  Value left = TRY(eval(*expr.parts[0]));
  for (std::size_t i = 0; i < expr.ops.size(); ++i) {
    Value right = TRY(eval(*expr.parts[i + 1]));
    if (!TRY(compared(*this, expr.ops[i], left, right))) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Result Machine::eval_concat(const Expr& expr) {
  std::string out;
  for (const ExprPtr& part : expr.parts) {
    const Value value = TRY(eval(*part));
    TRY(append_str(*this, out, value));
  }
  return text(std::move(out));
}

}  // namespace stackgate::jinja
