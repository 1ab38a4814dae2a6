#include "services/guardrail/configuration/tree.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {

namespace {

/// The value, under the key that was there.
void replace(Tree& value, Tree by) {
  by.key = std::move(value.key);
  value = std::move(by);
}

}  // namespace

const Tree* Tree::find(std::string_view name) const {
  const auto found = std::ranges::find(members, name, &Tree::key);
  return found == members.end() || found->is_null() ? nullptr : &*found;
}

const Tree* Tree::at(std::string_view path) const {
  const Tree* found = this;
  while (found != nullptr && !path.empty()) {
    const std::size_t dot = path.find('.');
    found = found->find(path.substr(0, dot));
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
  }
  return found;
}

std::string Tree::scalar() const {
  if (type == json::Type::integer) return std::to_string(integer);
  if (type == json::Type::number) return fmt::format("{}", number);
  return text;
}

Tree tree_of(const json::Value& value, std::uint32_t file) {
  Tree out{.type = value.type(), .origin = {file, value.offset()}};
  out.flag = value.boolean();
  out.integer = value.integer();
  out.number = value.number();
  out.text = value.string();
  out.items.reserve(value.items().size());
  for (const json::Value& item : value.items()) out.items.push_back(tree_of(item, file));
  out.members.reserve(value.members().size());
  for (const json::Member& member : value.members()) {
    out.members.push_back(tree_of(member.value, file));
    out.members.back().key = member.key;
    out.members.back().key_origin = {file, member.key_offset};
  }
  return out;
}

void join(Tree& into, Tree later, std::vector<Conflict>& conflicts, const std::string& path) {
  if (later.is_null()) return;
  if (into.is_null()) {
    replace(into, std::move(later));
    return;
  }
  const auto is_container = [](const Tree& t) { return t.is(json::Type::array) || t.is(json::Type::object); };
  if (into.type != later.type && (is_container(into) || is_container(later))) {
    conflicts.push_back({path, into.origin, later.origin});
    return;
  }
  if (later.is(json::Type::array)) {
    std::ranges::move(later.items, std::back_inserter(into.items));
    return;
  }
  if (!later.is(json::Type::object)) {
    replace(into, std::move(later));
    return;
  }
  for (Tree& member : later.members) {
    const std::string below = path.empty() ? member.key : concat({path, ".", member.key});
    const auto found = std::ranges::find(into.members, member.key, &Tree::key);
    if (found == into.members.end())
      into.members.push_back(std::move(member));
    else
      join(*found, std::move(member), conflicts, below);
  }
}

jinja::Value value_of(const Tree& tree) {
  switch (tree.type) {
    case json::Type::null:
      return {jinja::None{}};
    case json::Type::boolean:
      return {tree.flag};
    case json::Type::integer:
      return {tree.integer};
    case json::Type::number:
      return {tree.number};
    case json::Type::string:
      return {tree.text};
    case json::Type::array: {
      std::vector<jinja::Value> items;
      items.reserve(tree.items.size());
      for (const Tree& each : tree.items) items.push_back(value_of(each));
      return {jinja::ListPtr(std::make_shared<const jinja::List>(std::move(items)))};
    }
    case json::Type::object:
      break;
  }
  auto out = std::make_shared<jinja::Dict>();
  for (const Tree& each : tree.members) out->set(jinja::Value(each.key), value_of(each));
  return {jinja::DictPtr(std::move(out))};
}

void write_json(json::Writer& w, const Tree& tree) {
  switch (tree.type) {
    case json::Type::null:
      return w.value(nullptr);
    case json::Type::boolean:
      return w.value(tree.flag);
    case json::Type::integer:
      return w.value(tree.integer);
    case json::Type::number:
      return w.value(tree.number);
    case json::Type::string:
      return w.value(tree.text);
    case json::Type::array:
      return w.array([&] {
        for (const Tree& each : tree.items) write_json(w, each);
      });
    case json::Type::object:
      return w.object([&] {
        for (const Tree& each : tree.members) {
          w.key(each.key);
          write_json(w, each);
        }
      });
  }
}

}  // namespace stackgate::guardrail
