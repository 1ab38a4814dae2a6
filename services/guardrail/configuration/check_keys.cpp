// The tree against the table.
#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "services/guardrail/configuration/keys.hpp"
#include "services/kit/base/concat.hpp"
#include "services/kit/jinja/from_value.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::guardrail {
namespace {

const Key* find_key(std::string_view path) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const Key*> out;
    for (const Key& each : known_keys()) out.emplace(each.path, &each);
    return out;
  }();
  const auto found = index.find(path);
  return found == index.end() ? nullptr : found->second;
}

std::string below(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : concat({path, ".", key});
}

/// The keys of a mapping, by their own names.
std::vector<std::string_view> members_of(std::string_view path) {
  std::vector<std::string_view> out;
  for (const Key& each : known_keys()) {
    std::string_view rest = each.path;
    if (!path.empty()) {
      if (!rest.starts_with(path) || rest.size() <= path.size() || rest[path.size()] != '.') continue;
      rest.remove_prefix(path.size() + 1);
    }
    if (!rest.contains('.') && !rest.contains('[')) out.push_back(rest);
  }
  return out;
}

std::string_view wanted(KeyKind kind) {
  switch (kind) {
    case KeyKind::flag:
      return "true or false";
    case KeyKind::text:
      return "a text";
    case KeyKind::number:
      return "a number";
    case KeyKind::whole:
      return "a whole number";
    case KeyKind::texts:
      return "a list of texts";
    case KeyKind::mapping:
      return "a mapping";
    case KeyKind::mappings:
      return "a list of mappings";
    case KeyKind::free:
      return "a mapping";
    case KeyKind::any:
      break;
  }
  return "anything";
}

std::string_view what_it_is(const Tree& value) {
  switch (value.type) {
    case json::Type::null:
      return "nothing";
    case json::Type::boolean:
      return "true or false";
    case json::Type::integer:
    case json::Type::number:
      return "a number";
    case json::Type::string:
      return "a text";
    case json::Type::array:
      return "a list";
    case json::Type::object:
      return "a mapping";
  }
  return "";
}

class Check {
 public:
  explicit Check(Report& report) : report_(report) {}

  /// `path` is of the table ("models[].type"), `shown` of the file ("models[0].type").
  void members(const Tree& mapping, const std::string& path, const std::string& shown) {
    for (const Tree& each : mapping.members) {
      const std::string full = below(path, each.key);
      const std::string shown_full = below(shown, each.key);
      if (const Key* key = find_key(full))
        value(*key, each, full, shown_full, each.key_origin);
      else
        report_.warning(rule::unknown_key, each.key_origin, shown_full,
                        concat({"there is no key ", in_quotes(each.key), did_you_mean(each.key, members_of(path))}),
                        "it is kept for $config, and nothing else reads it");
    }
    for (const std::string_view each : members_of(path)) {
      const Key* key = find_key(below(path, each));
      if (key->needed && mapping.find(each) == nullptr)
        report_.error(rule::missing, mapping.origin, below(shown, each), "is missing",
                      concat({"write ", wanted(key->kind)}));
    }
  }

 private:
  void value(const Key& key, const Tree& tree, const std::string& path, const std::string& shown, Origin at) {
    if (!key.unsupported.empty())
      return report_.warning(rule::unsupported, at, shown, "has no effect here", std::string(key.unsupported));
    if (tree.is_null()) return;
    switch (key.kind) {
      case KeyKind::flag:
        if (!tree.is(json::Type::boolean)) wrong(key, tree, shown);
        return;
      case KeyKind::text:
        if (!tree.is(json::Type::string)) wrong(key, tree, shown);
        return;
      case KeyKind::number:
      case KeyKind::whole:
        return number(key, tree, shown);
      case KeyKind::texts:
        return texts(key, tree, shown);
      case KeyKind::mapping:
        return tree.is(json::Type::object) ? members(tree, path, shown) : wrong(key, tree, shown);
      case KeyKind::mappings:
        return mappings(key, tree, path, shown);
      case KeyKind::free:
        if (!tree.is(json::Type::object)) wrong(key, tree, shown);
        return;
      case KeyKind::any:
        return;
    }
  }

  void wrong(const Key& key, const Tree& tree, const std::string& shown) {
    report_.error(
        rule::type, tree.origin, shown, concat({"must be ", wanted(key.kind), ", and is ", what_it_is(tree)}),
        concat({"write ", wanted(key.kind),
                key.kind == KeyKind::text && !tree.is(json::Type::array) && !tree.is(json::Type::object) ? ", in quotes"
                                                                                                         : ""}));
  }

  void number(const Key& key, const Tree& tree, const std::string& shown) {
    if (!tree.is_number() || (key.kind == KeyKind::whole && !tree.is(json::Type::integer)) ||
        !std::isfinite(tree.number))
      return wrong(key, tree, shown);
    if (tree.number < key.least || tree.number > key.most)
      report_.error(rule::value, tree.origin, shown, fmt::format("is {}, beyond its bounds", tree.number),
                    fmt::format("write a number from {} to {}", key.least, key.most));
  }

  void texts(const Key& key, const Tree& tree, const std::string& shown) {
    if (!tree.is(json::Type::array)) return wrong(key, tree, shown);
    for (std::size_t i = 0; i < tree.items.size(); ++i)
      if (!tree.items[i].is(json::Type::string))
        report_.error(rule::type, tree.items[i].origin, fmt::format("{}[{}]", shown, i),
                      concat({"must be a text, and is ", what_it_is(tree.items[i])}), "write a text, in quotes");
  }

  void mappings(const Key& key, const Tree& tree, const std::string& path, const std::string& shown) {
    if (!tree.is(json::Type::array)) return wrong(key, tree, shown);
    for (std::size_t i = 0; i < tree.items.size(); ++i) {
      const std::string item = fmt::format("{}[{}]", shown, i);
      if (tree.items[i].is(json::Type::object))
        members(tree.items[i], path + "[]", item);
      else
        report_.error(rule::type, tree.items[i].origin, item,
                      concat({"must be a mapping, and is ", what_it_is(tree.items[i])}), "write a mapping");
    }
  }

  Report& report_;
};

Tree json_tree(std::string_view text) {
  json::Document document;
  const auto root = json::parse(text, document);
  return root ? tree_of(*root, 0) : Tree{};
}

Tree& member(Tree& of, std::string_view key) {
  if (!of.is(json::Type::object)) of = Tree{.type = json::Type::object, .key = of.key};
  const auto found = std::ranges::find(of.members, key, &Tree::key);
  if (found != of.members.end()) return *found;
  return of.members.emplace_back(Tree{.key = std::string(key)});
}

}  // namespace

void check_keys(const Tree& root, Report& report) { Check(report).members(root, {}, {}); }

jinja::Value config_value(const Tree& root) {
  Tree out = root;
  if (!out.is(json::Type::object)) out = Tree{.type = json::Type::object};
  for (const Key& each : known_keys()) {
    if (each.fallback.empty()) continue;
    Tree* at = &out;
    std::string_view path = each.path;
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
      at = &member(*at, path.substr(0, dot));
      path.remove_prefix(dot + 1);
    }
    Tree& value = member(*at, path);
    if (value.is_null()) {
      value = json_tree(each.fallback);
      value.key = path;
    }
  }
  return value_of(out);
}

}  // namespace stackgate::guardrail
