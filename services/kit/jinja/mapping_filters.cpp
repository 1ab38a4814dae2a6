// default, items, dictsort, groupby, tojson, attr
#include <algorithm>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/access.hpp"
#include "services/kit/jinja/objects.hpp"
#include "services/kit/jinja/operators.hpp"
#include "services/kit/jinja/print.hpp"
#include "services/kit/jinja/sorting.hpp"

namespace stackgate::jinja {
namespace {

Result default_value(Machine&, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("default", arguments, {"default_value", "boolean"}));
  if (subject.is_undefined() || (given.flag(1) && !subject.truth())) return given.get(0, Value(""));
  return subject;
}

Result items(Machine& machine, const Value& subject, Arguments& arguments) {
  (void)TRY(Given::match("items", arguments, {}));
  if (subject.is_undefined()) return machine.list({}, Form::iterator);
  if (subject.dict() == nullptr) return type_fault(concat({"\"", subject.type_name(), "\" is no mapping"}));
  const Value view = TRY(find_method(subject, "items")(machine, subject, arguments));
  return machine.list((*view.list())->items, Form::iterator);
}

Result dictsort(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("dictsort", arguments, {"case_sensitive", "by", "reverse"}));
  const std::string_view by = TRY(given.text(1, "key"));
  if (by != "key" && by != "value") return type_fault("dictsort() is by \"key\" or \"value\"");
  if (subject.is_undefined()) return undefined_fault(subject);
  if (subject.dict() == nullptr) return type_fault(concat({"\"", subject.type_name(), "\" is no mapping"}));
  std::vector<Value> keys;
  const auto& pairs = (*subject.dict())->items;
  keys.reserve(pairs.size());
  for (const auto& [key, value] : pairs)
    keys.push_back(TRY(sort_key(machine, by == "key" ? key : value, nullptr, given.flag(0))));
  std::vector<Value> out;
  const auto positions = TRY(sorted_positions(machine, keys, given.flag(2)));
  out.reserve(positions.size());
  for (const std::size_t at : positions)
    out.push_back(TRY(machine.list({pairs[at].first, pairs[at].second}, Form::tuple)));
  return machine.list(std::move(out));
}

// As pairs, for loops that take them apart; they have no names.
Result groupby(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1));
  const ListPtr list = TRY(machine.items_of(subject));
  std::vector<Value> keys;
  std::vector<Value> shown;
  for (const Value& item : list->items) {
    Value key = TRY(path_of(machine, item, *given[0]));
    if (key.is_undefined() && given[1] != nullptr) key = *given[1];
    shown.push_back(key);
    keys.push_back(TRY(sort_key(machine, key, nullptr, given.flag(2))));
  }
  const auto positions = TRY(sorted_positions(machine, keys, false));
  std::vector<Value> out;
  for (std::size_t i = 0; i < positions.size();) {
    std::vector<Value> members;
    const std::size_t first = positions[i];
    for (; i < positions.size() && TRY(same(machine, keys[first], keys[positions[i]])); ++i)
      members.push_back(list->items[positions[i]]);
    const Value group = TRY(machine.list(std::move(members)));
    out.push_back(TRY(machine.list({shown[first], group}, Form::tuple)));
  }
  return machine.list(std::move(out));
}

Result tojson(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"}));
  JsonStyle style{.ensure_ascii = given.flag(0), .sort_keys = given.flag(3)};
  const Value* indent = given[1];
  if (indent != nullptr && !indent->is_none()) {
    style.item_separator = ",";
    if (indent->text() != nullptr) {
      style.indent = indent->bytes();
    } else {
      const std::int64_t width = TRY(given.integer(1, 0));
      if (width > 1000) return limit_fault("tojson() with an indent of more than 1000");
      style.indent = std::string(static_cast<std::size_t>(std::max<std::int64_t>(width, 0)), ' ');
    }
  }
  if (given[2] != nullptr && !given[2]->is_none()) {
    const ListPtr both = TRY(machine.items_of(*given[2]));
    if (both->items.size() != 2) return type_fault("tojson() takes two separators");
    style.item_separator = both->items[0].bytes();
    style.key_separator = both->items[1].bytes();
  }
  std::string out;
  TRY(append_json(machine, out, subject, style));
  return machine.text(std::move(out));
}

// Attributes only, never items.
Result attr(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("attr", arguments, {"name"}, 1));
  const std::string_view name = TRY(given.text(0));
  if (subject.is_undefined()) return undefined_fault(subject);
  if (const auto* object = subject.object()) return (*object)->attribute(machine, name);
  if (const Builtin method = find_method(subject, name)) return bound_method(machine, subject, name, method);
  return Value();
}

constexpr NamedBuiltin mapping_table[] = {
    {"default", default_value}, {"d", default_value}, {"items", items}, {"dictsort", dictsort},
    {"groupby", groupby},       {"tojson", tojson},   {"attr", attr},
};

}  // namespace

std::span<const NamedBuiltin> mapping_filters() { return mapping_table; }

}  // namespace stackgate::jinja
