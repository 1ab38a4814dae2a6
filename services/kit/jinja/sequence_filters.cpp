// length, first, last, join, sort, unique, batch, …
#include <algorithm>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/access.hpp"
#include "services/kit/jinja/objects.hpp"
#include "services/kit/jinja/operators.hpp"
#include "services/kit/jinja/print.hpp"
#include "services/kit/jinja/sorting.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

Result length(Machine& machine, const Value& subject, Arguments& arguments) {
  (void)TRY(Given::match("length", arguments, {}));
  const auto integer = [](std::size_t size) { return Value(static_cast<std::int64_t>(size)); };
  if (const auto* text = subject.text()) {
    TRY(machine.spend_on((*text)->bytes.size()));
    return integer((*text)->length());
  }
  if (const auto* dict = subject.dict()) return integer((*dict)->items.size());
  const auto* list = subject.list();
  if (list != nullptr && (*list)->form != Form::iterator) return integer((*list)->items.size());
  if (subject.is_undefined() && !machine.environment().strict) return integer(0);
  if (subject.is_undefined()) return undefined_fault(subject);
  return type_fault(concat({"\"", subject.type_name(), "\" has no length; a generator needs \"list\" first"}));
}

Result first(Machine& machine, const Value& subject, Arguments& arguments) {
  (void)TRY(Given::match("first", arguments, {}));
  const ListPtr items = TRY(machine.items_of(subject));
  return items->items.empty() ? Value() : items->items.front();
}

Result last(Machine& machine, const Value& subject, Arguments& arguments) {
  (void)TRY(Given::match("last", arguments, {}));
  if (subject.list() != nullptr && (*subject.list())->form == Form::iterator)
    return type_fault("a generator has no last item; put \"list\" before");
  const ListPtr items = TRY(machine.items_of(subject));
  return items->items.empty() ? Value() : items->items.back();
}

Result list(Machine& machine, const Value& subject, Arguments& arguments) {
  (void)TRY(Given::match("list", arguments, {}));
  const ListPtr items = TRY(machine.items_of(subject));
  TRY(machine.spend(1 + items->items.size() / 16));
  return machine.list(items->items);
}

Result reverse(Machine& machine, const Value& subject, Arguments& arguments) {
  (void)TRY(Given::match("reverse", arguments, {}));
  if (subject.text() != nullptr) return slice_of(machine, subject, {std::nullopt, std::nullopt, -1});
  const ListPtr items = TRY(machine.items_of(subject));
  TRY(machine.spend(1 + items->items.size() / 16));
  return machine.list({items->items.rbegin(), items->items.rend()}, Form::iterator);
}

Result join(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("join", arguments, {"d", "attribute"}));
  const ListPtr items = TRY(machine.items_of(subject));
  std::string separator;
  if (given[0] != nullptr) TRY(append_str(machine, separator, *given[0]));
  const bool by_path = given[1] != nullptr && !given[1]->is_none();
  std::string out;
  for (std::size_t i = 0; i < items->items.size(); ++i) {
    TRY(machine.spend());
    if (i > 0) out += separator;
    const Value part = by_path ? TRY(path_of(machine, items->items[i], *given[1])) : items->items[i];
    TRY(append_str(machine, out, part));
    TRY(machine.has_room(out.size()));
  }
  return machine.text(std::move(out));
}

Result sort(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("sort", arguments, {"reverse", "case_sensitive", "attribute"}));
  const ListPtr items = TRY(machine.items_of(subject));
  return sorted(machine, items->items, {given.flag(0), given.flag(1), given[2]});
}

Result unique(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("unique", arguments, {"case_sensitive", "attribute"}));
  const ListPtr items = TRY(machine.items_of(subject));
  std::vector<Value> seen;
  std::vector<Value> out;
  for (const Value& item : items->items) {
    Value key = TRY(sort_key(machine, item, given[1], given.flag(0)));
    bool is_new = true;
    for (const Value& each : seen) {
      if (!TRY(same(machine, each, key))) continue;
      is_new = false;
      break;
    }
    if (!is_new) continue;
    seen.push_back(std::move(key));
    out.push_back(item);
  }
  return machine.list(std::move(out), Form::iterator);
}

template <Op op>
Result extreme(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("min", arguments, {"case_sensitive", "attribute"}));
  const ListPtr items = TRY(machine.items_of(subject));
  Value best;
  Value best_key;
  for (std::size_t i = 0; i < items->items.size(); ++i) {
    Value key = TRY(sort_key(machine, items->items[i], given[1], given.flag(0)));
    if (i > 0 && !TRY(compared(machine, op, key, best_key))) continue;
    best = items->items[i];
    best_key = std::move(key);
  }
  return best;
}

Result batch(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("batch", arguments, {"linecount", "fill_with"}, 1));
  const std::int64_t size = TRY(given.integer(0, 1));
  const ListPtr items = TRY(machine.items_of(subject));
  if (size < 1) return type_fault("batch() of less than one");
  std::vector<Value> out;
  std::vector<Value> row;
  for (const Value& item : items->items) {
    TRY(machine.spend());
    row.push_back(item);
    if (std::ssize(row) == size) out.push_back(TRY(machine.list(std::exchange(row, {}))));
  }
  if (!row.empty()) {
    if (given[1] != nullptr && !given[1]->is_none()) {
      const auto missing = static_cast<std::uint64_t>(size - std::ssize(row));
      if (missing > machine.limits().steps) return limit_fault("batch() of too many");
      TRY(machine.spend(missing));
      TRY(machine.has_room(missing * sizeof(Value)));
      row.resize(static_cast<std::size_t>(size), *given[1]);
    }
    out.push_back(TRY(machine.list(std::move(row))));
  }
  return machine.list(std::move(out), Form::iterator);
}

Result slice(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("slice", arguments, {"slices", "fill_with"}, 1));
  const std::int64_t slices = TRY(given.integer(0, 1));
  const ListPtr items = TRY(machine.items_of(subject));
  if (slices < 1) return type_fault("slice() into less than one");
  const auto size = static_cast<std::int64_t>(items->items.size());
  const std::int64_t each = size / slices;
  const std::int64_t larger = size % slices;
  std::vector<Value> out;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < slices; ++i) {
    TRY(machine.spend());
    const std::int64_t end = begin + each + (i < larger ? 1 : 0);
    std::vector<Value> part(items->items.begin() + begin, items->items.begin() + end);
    if (given[1] != nullptr && !given[1]->is_none() && i >= larger) part.push_back(*given[1]);
    out.push_back(TRY(machine.list(std::move(part))));
    begin = end;
  }
  return machine.list(std::move(out), Form::iterator);
}

constexpr NamedBuiltin sequence_table[] = {
    {"length", length},       {"count", length}, {"first", first}, {"last", last},     {"list", list},
    {"reverse", reverse},     {"join", join},    {"sort", sort},   {"unique", unique}, {"min", extreme<Op::lt>},
    {"max", extreme<Op::gt>}, {"batch", batch},  {"slice", slice},
};

}  // namespace

std::span<const NamedBuiltin> sequence_filters() { return sequence_table; }

}  // namespace stackgate::jinja
