#include "services/kit/jinja/operators.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/format.hpp"

namespace stackgate::jinja {
namespace {

constexpr std::string_view signs[] = {"+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">="};
std::string_view sign_of(Op op) { return signs[static_cast<std::size_t>(op)]; }

std::unexpected<Fault> no_operation(Op op, const Value& a, const Value& b) {
  return type_fault(concat({"\"", sign_of(op), "\" is not for \"", a.type_name(), "\" and \"", b.type_name(), "\""}));
}

std::unexpected<Fault> overflow() { return limit_fault("an integer of more than 64 bits"); }

Result integer_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return type_fault("0 has no negative power");
    return Value(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  std::int64_t out = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(out, base, &out)) return overflow();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return overflow();
  }
  return Value(out);
}

Result on_integers(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  switch (op) {
    case Op::add:
      return __builtin_add_overflow(a, b, &out) ? Result(overflow()) : Result(out);
    case Op::sub:
      return __builtin_sub_overflow(a, b, &out) ? Result(overflow()) : Result(out);
    case Op::mul:
      return __builtin_mul_overflow(a, b, &out) ? Result(overflow()) : Result(out);
    case Op::pow:
      return integer_power(a, b);
    default:
      break;
  }
  if (b == 0) return type_fault("division by zero");
  if (op == Op::div) return Value(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
  if (b == -1) {
    if (op == Op::mod) return Value(std::int64_t{0});
    return __builtin_sub_overflow(std::int64_t{0}, a, &out) ? Result(overflow()) : Result(out);
  }
  const bool rounds_down = a % b != 0 && ((a < 0) != (b < 0));
  if (op == Op::mod) return Value(rounds_down ? a % b + b : a % b);
  return Value(a / b - (rounds_down ? 1 : 0));
}

double floor_mod(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

Result on_reals(Op op, double a, double b) {
  switch (op) {
    case Op::add:
      return Value(a + b);
    case Op::sub:
      return Value(a - b);
    case Op::mul:
      return Value(a * b);
    case Op::pow: {
      const double out = std::pow(a, b);
      if (a == 0 && b < 0) return type_fault("0 has no negative power");
      if (std::isnan(out) && !std::isnan(a) && !std::isnan(b)) return type_fault("a power that is no real number");
      if (std::isinf(out) && std::isfinite(a) && std::isfinite(b)) return limit_fault("the power is too large");
      return Value(out);
    }
    default:
      break;
  }
  if (b == 0) return type_fault("division by zero");
  if (op == Op::div) return Value(a / b);
  const double rest = floor_mod(a, b);
  if (op == Op::mod) return Value(rest);
  const double quotient = (a - rest) / b;
  const double floor = std::floor(quotient);
  return Value(quotient - floor > 0.5 ? floor + 1 : floor);
}

Result repeated(Machine& machine, const Value& value, std::int64_t times) {
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(times, 0));
  if (value.text() != nullptr) {
    const std::string_view part = value.bytes();
    if (part.empty() || count == 0) return Value("");
    if (count > (std::uint64_t{1} << 40U) / part.size()) return limit_fault("the text is too long");
    TRY(machine.has_room(part.size() * count));
    std::string out;
    out.reserve(part.size() * count);
    for (std::uint64_t i = 0; i < count; ++i) out += part;
    return machine.text(std::move(out));
  }
  const List& list = **value.list();
  if (list.form != Form::list && list.form != Form::tuple) return no_operation(Op::mul, value, Value(times));
  if (!list.items.empty() && count > (std::uint64_t{1} << 32U) / list.items.size())
    return limit_fault("the list is too long");
  TRY(machine.has_room(list.items.size() * count * sizeof(Value)));
  TRY(machine.spend(list.items.size() * count / 16));
  std::vector<Value> out;
  out.reserve(list.items.size() * count);
  if (!list.items.empty())
    for (std::uint64_t i = 0; i < count; ++i) out.insert(out.end(), list.items.begin(), list.items.end());
  return machine.list(std::move(out), list.form);
}

Result joined(Machine& machine, const Value& a, const Value& b) {
  if (a.text() != nullptr) {
    TRY(machine.has_room(a.bytes().size() + b.bytes().size()));
    return machine.text(concat({a.bytes(), b.bytes()}));
  }
  const List& first = **a.list();
  const List& second = **b.list();
  if (first.form != second.form || (first.form != Form::list && first.form != Form::tuple))
    return no_operation(Op::add, a, b);
  TRY(machine.spend((first.items.size() + second.items.size()) / 16));
  std::vector<Value> out;
  out.reserve(first.items.size() + second.items.size());
  out.insert(out.end(), first.items.begin(), first.items.end());
  out.insert(out.end(), second.items.begin(), second.items.end());
  return machine.list(std::move(out), first.form);
}

}  // namespace

std::optional<std::int64_t> whole(const Value& value) {
  if (const auto* held = value.integer()) return *held;
  if (const auto* flag = value.boolean()) return *flag ? 1 : 0;
  return std::nullopt;
}

std::optional<double> number(const Value& value) {
  if (const auto* held = value.real()) return *held;
  if (const auto held = whole(value)) return static_cast<double>(*held);
  return std::nullopt;
}

Result arithmetic(Machine& machine, Op op, const Value& a, const Value& b) {
  if (a.is_undefined()) return undefined_fault(a);
  if (b.is_undefined()) return undefined_fault(b);
  const auto left = whole(a);
  const auto right = whole(b);
  if (left && right) return on_integers(op, *left, *right);
  const auto first = number(a);
  const auto second = number(b);
  if (first && second) return on_reals(op, *first, *second);
  const auto repeats = [](const Value& value) { return value.text() != nullptr || value.list() != nullptr; };
  if (op == Op::mul && repeats(a) && right) return repeated(machine, a, *right);
  if (op == Op::mul && repeats(b) && left) return repeated(machine, b, *left);
  const bool both_texts = a.text() != nullptr && b.text() != nullptr;
  const bool both_lists = a.list() != nullptr && b.list() != nullptr;
  if (op == Op::add && (both_texts || both_lists)) return joined(machine, a, b);
  if (op == Op::mod && a.text() != nullptr) return percent_format(machine, a.bytes(), b);
  return no_operation(op, a, b);
}

Result negated(const Value& value) {
  if (value.is_undefined()) return undefined_fault(value);
  if (const auto held = whole(value)) return on_integers(Op::sub, 0, *held);
  if (const auto* held = value.real()) return Value(-*held);
  return type_fault(concat({"\"-\" is not for \"", value.type_name(), "\""}));
}

std::expected<bool, Fault> same(Machine& machine, const Value& a, const Value& b) {
  if (machine.environment().strict && a.is_undefined()) return undefined_fault(a);
  if (machine.environment().strict && b.is_undefined()) return undefined_fault(b);
  TRY(machine.spend(std::min(a.weight(), b.weight())));
  return equal(a, b);
}

std::expected<int, Fault> ordered(Machine& machine, const Value& a, const Value& b) {
  if (a.is_undefined()) return undefined_fault(a);
  if (b.is_undefined()) return undefined_fault(b);
  TRY(machine.spend());
  const auto sign = [](auto x, auto y) { return x < y ? -1 : (y < x ? 1 : 0); };
  if (number(a) && number(b)) {
    const auto left = whole(a);
    const auto right = whole(b);
    if (left && right) return sign(*left, *right);
    return sign(static_cast<long double>(left ? static_cast<long double>(*left) : *number(a)),
                static_cast<long double>(right ? static_cast<long double>(*right) : *number(b)));
  }
  if (a.text() != nullptr && b.text() != nullptr) {
    TRY(machine.spend_on(std::min(a.bytes().size(), b.bytes().size())));
    return sign(a.bytes(), b.bytes());  // bytes of UTF-8 sort as code points do
  }
  const bool lists = a.list() != nullptr && b.list() != nullptr && (*a.list())->form == (*b.list())->form;
  if (lists && ((*a.list())->form == Form::list || (*a.list())->form == Form::tuple)) {
    const auto& left = (*a.list())->items;
    const auto& right = (*b.list())->items;
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      if (TRY(same(machine, left[i], right[i]))) continue;
      return ordered(machine, left[i], right[i]);
    }
    return sign(left.size(), right.size());
  }
  return type_fault(concat({"\"", a.type_name(), "\" and \"", b.type_name(), "\" have no order"}));
}

namespace {

std::expected<bool, Fault> contains(Machine& machine, const Value& part, const Value& whole_value) {
  if (whole_value.is_undefined()) {
    if (machine.environment().strict) return undefined_fault(whole_value);
    return false;
  }
  if (whole_value.text() != nullptr) {
    if (part.is_undefined()) return undefined_fault(part);
    if (part.text() == nullptr)
      return type_fault(concat({"\"in\" a text wants a text, not \"", part.type_name(), "\""}));
    TRY(machine.spend_on(whole_value.bytes().size()));
    return whole_value.bytes().contains(part.bytes());
  }
  if (const auto* dict = whole_value.dict()) {
    TRY(machine.spend(part.text() != nullptr ? 1 : (*dict)->items.size() * part.weight() + 1));
    return (*dict)->find(part) != nullptr;
  }
  if (const auto* list = whole_value.list()) {
    for (const Value& item : (*list)->items)
      if (TRY(same(machine, item, part))) return true;
    return false;
  }
  return type_fault(concat({"\"in\" is not for \"", whole_value.type_name(), "\""}));
}

}  // namespace

std::expected<bool, Fault> compared(Machine& machine, Op op, const Value& a, const Value& b) {
  switch (op) {
    case Op::eq:
      return same(machine, a, b);
    case Op::ne:
      return !TRY(same(machine, a, b));
    case Op::in:
      return contains(machine, a, b);
    case Op::not_in:
      return !TRY(contains(machine, a, b));
    default:
      break;
  }
  const auto is_nan = [](const Value& value) { return value.real() != nullptr && std::isnan(*value.real()); };
  if ((is_nan(a) && number(b)) || (is_nan(b) && number(a))) return false;
  const int order = TRY(ordered(machine, a, b));
  if (op == Op::lt) return order < 0;
  if (op == Op::le) return order <= 0;
  return op == Op::gt ? order > 0 : order >= 0;
}

}  // namespace stackgate::jinja
