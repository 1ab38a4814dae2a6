// Python's operators on values.
#pragma once
#include <expected>

#include "services/kit/jinja/ast.hpp"
#include "services/kit/jinja/machine.hpp"

namespace stackgate::jinja {

Result arithmetic(Machine& machine, Op op, const Value& a, const Value& b);
Result negated(const Value& value);
/// For any of the comparison operators.
std::expected<bool, Fault> compared(Machine& machine, Op op, const Value& a, const Value& b);
std::expected<bool, Fault> same(Machine& machine, const Value& a, const Value& b);
/// -1, 0 or 1; a fault for values without an order.
std::expected<int, Fault> ordered(Machine& machine, const Value& a, const Value& b);
/// An integer for integers and booleans; nothing else.
std::optional<std::int64_t> whole(const Value& value);
std::optional<double> number(const Value& value);

}  // namespace stackgate::jinja
