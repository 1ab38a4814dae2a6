// `value is name(argument)`.
#include <algorithm>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/builtins.hpp"
#include "services/kit/jinja/objects.hpp"
#include "services/kit/jinja/operators.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

using Truth = bool (*)(const Value&);

template <Truth holds>
Result plain(Machine&, const Value& subject, Arguments& arguments) {
  if (!arguments.positional.empty() || !arguments.named.empty()) return type_fault("this test takes no argument");
  return Value(holds(subject));
}

bool is_defined(const Value& value) { return !value.is_undefined(); }
bool is_undefined(const Value& value) { return value.is_undefined(); }
bool is_none(const Value& value) { return value.is_none(); }
bool is_boolean(const Value& value) { return value.boolean() != nullptr; }
bool is_true(const Value& value) { return value.boolean() != nullptr && *value.boolean(); }
bool is_false(const Value& value) { return value.boolean() != nullptr && !*value.boolean(); }
bool is_integer(const Value& value) { return value.integer() != nullptr; }
bool is_float(const Value& value) { return value.real() != nullptr; }
bool is_number(const Value& value) { return number(value).has_value(); }
bool is_string(const Value& value) { return value.text() != nullptr; }
bool is_mapping(const Value& value) { return value.dict() != nullptr; }
bool is_iterable(const Value& value) {
  return value.text() != nullptr || value.list() != nullptr || value.dict() != nullptr || value.is_undefined();
}
bool is_sequence(const Value& value) {
  if (const auto* list = value.list()) return (*list)->form <= Form::range;
  return value.text() != nullptr || value.dict() != nullptr;
}
bool is_callable(const Value& value) { return value.object() != nullptr && (*value.object())->is_callable(); }
bool never(const Value&) { return false; }

template <bool large>
Result case_test(Machine& machine, const Value& subject, Arguments&) {
  TRY(machine.spend_on(subject.bytes().size() * 8));
  const std::string_view text = subject.bytes();
  return Value((large ? upper(text) : lower(text)) == text && (large ? lower(text) : upper(text)) != text);
}

template <std::int64_t rest>
Result parity(Machine& machine, const Value& subject, Arguments&) {
  const Value out = TRY(arithmetic(machine, Op::mod, subject, Value(std::int64_t{2})));
  return Value(equal(out, Value(rest)));
}

Result divisible(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("divisibleby", arguments, {"num"}, 1));
  const Value out = TRY(arithmetic(machine, Op::mod, subject, *given[0]));
  return Value(equal(out, Value(std::int64_t{0})));
}

template <Op op>
Result comparison_test(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("the test", arguments, {"other"}, 1));
  return Value(TRY(compared(machine, op, subject, *given[0])));
}

Result same_as(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("sameas", arguments, {"other"}, 1));
  if (subject.type_name() != given[0]->type_name()) return Value(false);
  return Value(TRY(same(machine, subject, *given[0])));
}

Result is_filter(Machine& machine, const Value& subject, Arguments&) {
  return Value(static_cast<bool>(find_filter(subject.bytes(), machine.environment())));
}

Result is_test(Machine&, const Value& subject, Arguments&) {
  return Value(static_cast<bool>(find_test(subject.bytes())));
}

constexpr NamedBuiltin test_table[] = {
    {"defined", plain<is_defined>},
    {"undefined", plain<is_undefined>},
    {"none", plain<is_none>},
    {"boolean", plain<is_boolean>},
    {"true", plain<is_true>},
    {"false", plain<is_false>},
    {"integer", plain<is_integer>},
    {"float", plain<is_float>},
    {"number", plain<is_number>},
    {"string", plain<is_string>},
    {"mapping", plain<is_mapping>},
    {"iterable", plain<is_iterable>},
    {"sequence", plain<is_sequence>},
    {"callable", plain<is_callable>},
    {"escaped", plain<never>},
    {"upper", case_test<true>},
    {"lower", case_test<false>},
    {"odd", parity<1>},
    {"even", parity<0>},
    {"divisibleby", divisible},
    {"sameas", same_as},
    {"filter", is_filter},
    {"test", is_test},
    {"eq", comparison_test<Op::eq>},
    {"equalto", comparison_test<Op::eq>},
    {"==", comparison_test<Op::eq>},
    {"ne", comparison_test<Op::ne>},
    {"!=", comparison_test<Op::ne>},
    {"lt", comparison_test<Op::lt>},
    {"lessthan", comparison_test<Op::lt>},
    {"<", comparison_test<Op::lt>},
    {"le", comparison_test<Op::le>},
    {"<=", comparison_test<Op::le>},
    {"gt", comparison_test<Op::gt>},
    {"greaterthan", comparison_test<Op::gt>},
    {">", comparison_test<Op::gt>},
    {"ge", comparison_test<Op::ge>},
    {">=", comparison_test<Op::ge>},
    {"in", comparison_test<Op::in>},
};

}  // namespace

std::span<const NamedBuiltin> all_tests() { return test_table; }

}  // namespace stackgate::jinja
