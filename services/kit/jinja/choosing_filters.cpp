// map, select, reject, selectattr, rejectattr
#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/access.hpp"
#include "services/kit/jinja/objects.hpp"

namespace stackgate::jinja {
namespace {

// The arguments behind the first `count`.
Arguments without(const Arguments& arguments, std::size_t count) {
  Arguments out;
  for (std::size_t i = count; i < arguments.positional.size(); ++i) out.positional.push_back(arguments.positional[i]);
  out.named = arguments.named;
  return out;
}

// map(attribute="name", default=value)
Result map_attribute(Machine& machine, const ListPtr& list, Arguments& arguments) {
  const Given given = TRY(Given::match("map", arguments, {"attribute", "default"}, 1));
  std::vector<Value> out;
  for (const Value& item : list->items) {
    Value part = TRY(path_of(machine, item, *given[0], given[1]));
    if (part.is_undefined() && given[1] != nullptr) part = *given[1];
    out.push_back(std::move(part));
  }
  return machine.list(std::move(out), Form::iterator);
}

Result map(Machine& machine, const Value& subject, Arguments& arguments) {
  const ListPtr list = TRY(machine.items_of(subject));
  if (arguments.positional.empty()) {
    if (arguments.named.empty() || arguments.named[0].first != "attribute")
      return type_fault("map() wants the name of a filter, or attribute=");
    return map_attribute(machine, list, arguments);
  }
  if (arguments.positional[0].text() == nullptr) return type_fault("map() wants the name of a filter");
  std::vector<Value> out;
  for (const Value& item : list->items) {
    Arguments rest = without(arguments, 1);
    out.push_back(TRY(machine.filter(arguments.positional[0].bytes(), item, rest)));
  }
  return machine.list(std::move(out), Form::iterator);
}

template <bool wanted, bool by_attribute>
Result choose(Machine& machine, const Value& subject, Arguments& arguments) {
  const ListPtr list = TRY(machine.items_of(subject));
  const std::size_t before = by_attribute ? 1 : 0;
  if (arguments.positional.size() < before) return type_fault("the name of an attribute is missing");
  const bool has_test = arguments.positional.size() > before;
  if (has_test && arguments.positional[before].text() == nullptr) return type_fault("a test is given by its name");
  std::vector<Value> out;
  for (const Value& item : list->items) {
    TRY(machine.spend());
    const Value part = by_attribute ? TRY(path_of(machine, item, arguments.positional[0])) : item;
    Arguments rest = without(arguments, before + 1);
    const bool holds =
        TRY(has_test ? machine.test(arguments.positional[before].bytes(), part, rest) : machine.truth(part));
    if (holds == wanted) out.push_back(item);
  }
  return machine.list(std::move(out), Form::iterator);
}

constexpr NamedBuiltin choosing_table[] = {
    {"map", map},
    {"select", choose<true, false>},
    {"reject", choose<false, false>},
    {"selectattr", choose<true, true>},
    {"rejectattr", choose<false, true>},
};

}  // namespace

std::span<const NamedBuiltin> choosing_filters() { return choosing_table; }

}  // namespace stackgate::jinja
