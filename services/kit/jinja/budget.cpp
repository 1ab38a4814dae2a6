#include "services/kit/jinja/budget.hpp"

#include <fmt/format.h>

#include "services/kit/base/try.hpp"

namespace stackgate::jinja {

std::unexpected<Fault> type_fault(std::string message) {
  return std::unexpected(Fault{FaultKind::type, std::move(message)});
}

std::unexpected<Fault> limit_fault(std::string message) {
  return std::unexpected(Fault{FaultKind::limit, std::move(message)});
}

std::unexpected<Fault> undefined_fault(const Value& value) {
  const Undefined* held = value.undefined();
  std::string what = held != nullptr && held->what ? held->what->bytes : "the value is undefined";
  return std::unexpected(Fault{FaultKind::undefined, std::move(what)});
}

Status Budget::spend(std::uint64_t steps) {
  if (steps > limits_.steps - steps_)
    return limit_fault(fmt::format("the template takes more than {} steps", limits_.steps));
  steps_ += steps;
  return {};
}

Status Budget::has_room(std::uint64_t bytes) const {
  if (bytes > limits_.allocation - bytes_)
    return limit_fault(fmt::format("the template makes values of more than {} bytes", limits_.allocation));
  return {};
}

Status Budget::allocate(std::uint64_t bytes) {
  TRY(has_room(bytes));
  bytes_ += bytes;
  return {};
}

Status Budget::fits(std::size_t bytes) const {
  if (bytes > limits_.output) return limit_fault(fmt::format("the template writes more than {} bytes", limits_.output));
  return {};
}

Result Budget::text(std::string text) {
  TRY(allocate(sizeof(Text) + text.capacity()));
  return Value(std::move(text));
}

Result Budget::list(std::vector<Value> items, Form form) {
  TRY(allocate(sizeof(List) + items.capacity() * sizeof(Value)));
  auto list = std::make_shared<const List>(std::move(items), form);
  if (list->depth > limits_.value_depth)
    return limit_fault(fmt::format("values are nested more than {} times", limits_.value_depth));
  return Value(ListPtr(std::move(list)));
}

Result Budget::dict(Dict dict) {
  TRY(allocate(sizeof(Dict) + dict.items.capacity() * 2 * sizeof(Dict::Item)));
  if (dict.depth > limits_.value_depth)
    return limit_fault(fmt::format("values are nested more than {} times", limits_.value_depth));
  return Value(DictPtr(std::make_shared<const Dict>(std::move(dict))));
}

}  // namespace stackgate::jinja
