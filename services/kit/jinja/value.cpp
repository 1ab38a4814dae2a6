#include "services/kit/jinja/value.hpp"

#include <algorithm>

#include "services/kit/jinja/object.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {

std::size_t Text::length() const {
  std::size_t known = length_.load(std::memory_order_relaxed);
  if (known == unknown) {
    known = count_points(bytes);
    length_.store(known, std::memory_order_relaxed);
  }
  return known;
}

bool Value::truth() const {
  if (const auto* flag = boolean()) return *flag;
  if (const auto* number = integer()) return *number != 0;
  if (const auto* number = real()) return *number != 0;
  if (const auto* held = text()) return !(*held)->bytes.empty();
  if (const auto* held = list()) return (*held)->form == Form::iterator || !(*held)->items.empty();
  if (const auto* held = dict()) return !(*held)->items.empty();
  return object() != nullptr;
}

std::string_view Value::type_name() const {
  static constexpr std::string_view forms[] = {"list",      "tuple",       "range",     "generator",
                                               "dict_keys", "dict_values", "dict_items"};
  static constexpr std::string_view names[] = {"Undefined", "NoneType", "bool", "int", "float", "str"};
  if (const auto* held = list()) return forms[static_cast<std::size_t>((*held)->form)];
  if (dict() != nullptr) return "dict";
  if (const auto* held = object()) return (*held)->type_name();
  return names[held_.index()];
}

std::uint32_t Value::depth() const {
  if (const auto* held = list()) return (*held)->depth;
  if (const auto* held = dict()) return (*held)->depth;
  if (const auto* held = object()) return (*held)->depth();
  return 0;
}

std::uint64_t Value::weight() const {
  if (const auto* held = text()) return 1 + (*held)->bytes.size() / 64;
  if (const auto* held = list()) return (*held)->weight;
  if (const auto* held = dict()) return (*held)->weight;
  return 1;
}

namespace {

constexpr std::uint64_t heaviest = std::uint64_t{1} << 62U;

void add_part(const Value& part, std::uint32_t& depth, std::uint64_t& weight) {
  depth = std::max(depth, part.depth() + 1);
  weight = std::min(heaviest, weight + part.weight());
}

}  // namespace

List::List(std::vector<Value> values, Form kind) : items(std::move(values)), form(kind) {
  for (const Value& item : items) add_part(item, depth, weight);
}

std::size_t Dict::position(std::string_view key) const {
  if (!index_.empty()) {
    const auto at = index_.find(key);
    return at == index_.end() ? items.size() : at->second;
  }
  const auto at = std::ranges::find_if(
      items, [&](const Item& item) { return item.first.text() != nullptr && item.first.bytes() == key; });
  return static_cast<std::size_t>(at - items.begin());
}

std::size_t Dict::position(const Value& key) const {
  if (key.text() != nullptr) return position(key.bytes());
  const auto at = std::ranges::find_if(items, [&](const Item& item) { return equal(item.first, key); });
  return static_cast<std::size_t>(at - items.begin());
}

const Value* Dict::find(std::string_view key) const {
  const std::size_t at = position(key);
  return at == items.size() ? nullptr : &items[at].second;
}

const Value* Dict::find(const Value& key) const {
  const std::size_t at = position(key);
  return at == items.size() ? nullptr : &items[at].second;
}

void Dict::set(Value key, Value value) {
  add_part(key, depth, weight);
  add_part(value, depth, weight);
  const std::size_t there = position(key);
  if (there < items.size()) {
    items[there].second = std::move(value);
    return;
  }
  items.emplace_back(std::move(key), std::move(value));
  if (items.size() < indexed_from) return;
  for (std::size_t i = items.size() == indexed_from ? 0 : items.size() - 1; i < items.size(); ++i)
    if (items[i].first.text() != nullptr) index_.emplace(items[i].first.bytes(), i);
}

namespace {

bool is_number(const Value& value) {
  return value.boolean() != nullptr || value.integer() != nullptr || value.real() != nullptr;
}

// Wide enough for each integer and each double.
long double exact(const Value& value) {
  if (const auto* flag = value.boolean()) return *flag ? 1 : 0;
  if (const auto* number = value.integer()) return static_cast<long double>(*number);
  return *value.real();
}

bool equal_lists(const List& a, const List& b) {
  const auto kind = [](Form form) { return form == Form::list || form == Form::tuple || form == Form::range; };
  if (&a == &b) return true;
  return a.form == b.form && kind(a.form) && std::ranges::equal(a.items, b.items, equal);
}

bool equal_dicts(const Dict& a, const Dict& b) {
  if (&a == &b) return true;
  if (a.items.size() != b.items.size()) return false;
  return std::ranges::all_of(a.items, [&](const Dict::Item& item) {
    const Value* other = b.find(item.first);
    return other != nullptr && equal(item.second, *other);
  });
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (is_number(a)) return is_number(b) && exact(a) == exact(b);
  if (a.text() != nullptr) return b.text() != nullptr && a.bytes() == b.bytes();
  if (a.is_none()) return b.is_none();
  if (a.is_undefined()) return b.is_undefined();
  if (const auto* held = a.list()) return b.list() != nullptr && equal_lists(**held, **b.list());
  if (const auto* held = a.dict()) return b.dict() != nullptr && equal_dicts(**held, **b.dict());
  return b.object() != nullptr && a.object()->get()->is_same(**b.object());
}

}  // namespace stackgate::jinja
