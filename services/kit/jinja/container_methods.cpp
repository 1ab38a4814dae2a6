// Methods of dicts and lists. Those that would change them are refused, as the sandbox does.
#include <algorithm>

#include "services/kit/base/try.hpp"
#include "services/kit/jinja/access.hpp"
#include "services/kit/jinja/objects.hpp"
#include "services/kit/jinja/operators.hpp"

namespace stackgate::jinja {
namespace {

Result refused(Machine&, const Value&, Arguments&) {
  return type_fault("lists and dicts cannot be changed in a template; make a new one, or use namespace()");
}

Result get(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("get", arguments, {"key", "default"}, 1));
  const Dict& dict = **subject.dict();
  if (given[0]->text() == nullptr) TRY(machine.spend(1 + dict.items.size() * given[0]->weight() / 4));
  const Value* found = dict.find(*given[0]);
  return found != nullptr ? *found : given.get(1, None{});
}

template <Form form>
Result view(Machine& machine, const Value& subject, Arguments& arguments) {
  (void)TRY(Given::match("items", arguments, {}));
  const Dict& dict = **subject.dict();
  TRY(machine.spend(1 + dict.items.size() / 4));
  std::vector<Value> out;
  out.reserve(dict.items.size());
  for (const auto& [key, value] : dict.items) {
    if (form == Form::keys) out.push_back(key);
    if (form == Form::values) out.push_back(value);
    if (form == Form::items) out.push_back(TRY(machine.list({key, value}, Form::tuple)));
  }
  return machine.list(std::move(out), form);
}

Result copy(Machine&, const Value& subject, Arguments&) { return subject; }

Result count(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("count", arguments, {"value"}, 1));
  std::int64_t out = 0;
  for (const Value& item : (*subject.list())->items) out += TRY(same(machine, item, *given[0])) ? 1 : 0;
  return Value(out);
}

Result index(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("index", arguments, {"value"}, 1));
  const auto& items = (*subject.list())->items;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (TRY(same(machine, items[i], *given[0]))) return Value(static_cast<std::int64_t>(i));
  return type_fault("the list has no such value");
}

constexpr NamedBuiltin dict_table[] = {
    {"get", get},
    {"items", view<Form::items>},
    {"keys", view<Form::keys>},
    {"values", view<Form::values>},
    {"copy", copy},
    {"clear", refused},
    {"pop", refused},
    {"popitem", refused},
    {"setdefault", refused},
    {"update", refused},
};

constexpr NamedBuiltin list_table[] = {
    {"count", count},    {"index", index},     {"copy", copy},      {"append", refused},
    {"clear", refused},  {"extend", refused},  {"insert", refused}, {"pop", refused},
    {"remove", refused}, {"reverse", refused}, {"sort", refused},
};

}  // namespace

std::span<const NamedBuiltin> dict_methods() { return dict_table; }
std::span<const NamedBuiltin> list_methods() { return list_table; }

}  // namespace stackgate::jinja
