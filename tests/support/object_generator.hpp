// Objects that a compiled schema takes, and mutations of them that it mostly does not. For tests and fuzzers.
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "services/kit/json/write.hpp"
#include "services/kit/schema/formats.hpp"
#include "services/kit/schema/pattern.hpp"
#include "services/kit/schema/schema.hpp"
#include "tests/support/dice.hpp"

namespace stackgate::testing {

using Tree = nlohmann::ordered_json;

class ObjectGenerator {
 public:
  explicit ObjectGenerator(Dice& dice) : dice_(dice) {}

  /// Places for which no text of the pool fits: such a value is not valid.
  std::vector<std::string> gave_up;

  /// A whole resource; the status is left out.
  Tree resource(const validate::schema::Node& root, std::string_view api_version, std::string_view kind) {
    Tree out;
    out["apiVersion"] = std::string(api_version);
    out["kind"] = std::string(kind);
    out["metadata"]["name"] = "generated";
    if (dice_.chance(30)) out["metadata"]["labels"] = {{"app", "generated"}};
    if (dice_.chance(20)) out["metadata"]["annotations"] = {{"example.com/note", "any text"}};
    if (const auto* spec = root.property("spec")) out["spec"] = value(*spec, 0);
    return out;
  }

  Tree value(const validate::schema::Node& node, int depth) {
    using json::Type;
    if (!node.enumeration.empty()) return Tree::parse(json::to_json(dice_.pick(node.enumeration)));
    if (node.nullable && dice_.chance(10)) return nullptr;
    if (node.int_or_string) return dice_.chance(50) ? number(node, true) : text(node);
    if (!node.type) return node.preserve_unknown ? Tree{{"anything", 1}} : Tree("anything");
    switch (*node.type) {
      case Type::boolean:
        return dice_.chance(50);
      case Type::integer:
        return number(node, true);
      case Type::number:
        return number(node, dice_.chance(50));
      case Type::string:
        return text(node);
      case Type::array:
        return list(node, depth);
      case Type::object:
        return object(node, depth);
      case Type::null:
        break;
    }
    return nullptr;
  }

 private:
  Tree number(const validate::schema::Node& node, bool whole) {
    const auto* limits = node.limits;
    double least = limits != nullptr && limits->minimum ? *limits->minimum + (limits->exclusive_minimum ? 1 : 0) : 0;
    double most =
        limits != nullptr && limits->maximum ? *limits->maximum - (limits->exclusive_maximum ? 1 : 0) : least + 1000;
    if (most < least) least = most;
    const double step = limits != nullptr && limits->multiple_of ? *limits->multiple_of : 1;
    double out =
        dice_.chance(20) ? least
        : dice_.chance(20)
            ? most
            : least + static_cast<double>(dice_.roll(static_cast<std::size_t>(std::min(most - least, 1000.0)) + 1));
    if (step != 1) out = std::max(least, static_cast<double>(static_cast<std::int64_t>(out / step)) * step);
    if (!whole && step == 1 && out + 0.5 <= most) return out + 0.5;
    return static_cast<std::int64_t>(out);
  }

  static bool fits(const validate::schema::Node& node, const std::string& text) {
    const auto* limits = node.limits;
    if (limits != nullptr && ((limits->min_length && text.size() < *limits->min_length) ||
                              (limits->max_length && text.size() > *limits->max_length)))
      return false;
    return (node.pattern == nullptr || node.pattern->matches(text)) && has_format(node.format, text);
  }

  Tree text(const validate::schema::Node& node) {
    static const std::array<std::string, 44> pool{"a",
                                                  "my-app",
                                                  "10Gi",
                                                  "500m",
                                                  "2",
                                                  "30s",
                                                  "1m",
                                                  "1h30m",
                                                  "http://host.example:8000",
                                                  "https://host.example:8000/v1",
                                                  "http://host.example/v1/hf",
                                                  "host.example:9000",
                                                  "LOG_LEVEL",
                                                  "NCCL_IB_HCA",
                                                  "registry.example.com/team/app",
                                                  "registry.example.com/team/app:1.0",
                                                  "1.0",
                                                  "/data",
                                                  "models/base",
                                                  "2025-01-31T08:00:00Z",
                                                  "nvidia.com/gpu",
                                                  "tensorrt_llm",
                                                  "any text with spaces",
                                                  "*.example.com",
                                                  "host.example.com",
                                                  "key.json",
                                                  "INF_PEFT_REFRESH_INTERVAL",
                                                  "8",
                                                  "0.5",
                                                  "10.0.0.0/8,.svc",
                                                  "ümläut",
                                                  "",
                                                  "Abc",
                                                  "a.b.c",
                                                  "123",
                                                  "x/y",
                                                  "team",
                                                  "600",
                                                  "0",
                                                  "aGVsbG8=",
                                                  "10.0.0.7",
                                                  "fd00::7",
                                                  "3f2b8c1e-0d5a-4c69-9e3b-7a1f60d2c845",
                                                  "2025-01-31"};
    for (int i = 0; i < 40; ++i)
      if (const std::string& one = dice_.pick(pool); fits(node, one)) return one;
    for (const std::string& one : pool)
      if (fits(node, one)) return one;
    gave_up.push_back(node.pattern == nullptr ? "a length" : node.pattern->source());
    return "a";
  }

  Tree list(const validate::schema::Node& node, int depth) {
    const auto* limits = node.limits;
    const std::size_t least = limits != nullptr && limits->min_items ? static_cast<std::size_t>(*limits->min_items) : 0;
    const std::size_t most =
        limits != nullptr && limits->max_items ? static_cast<std::size_t>(*limits->max_items) : 1000;
    const std::size_t size = std::min(most, least + dice_.roll(3));
    Tree out = Tree::array();
    if (node.items == nullptr) return out;
    for (std::size_t i = 0; i < size; ++i) {
      Tree item = value(*node.items, depth + 1);
      const bool taken = std::ranges::any_of(out, [&](const Tree& other) { return same_item(node, item, other); });
      if (!taken)
        out.push_back(std::move(item));
      else if (out.size() < least && dice_.chance(90) && !dice_.used_up())
        --i;
    }
    return out;
  }

  static bool same_item(const validate::schema::Node& node, const Tree& a, const Tree& b) {
    using validate::schema::ListType;
    if (node.list_type == ListType::set || (node.limits != nullptr && node.limits->unique_items))
      return nlohmann::json(a) == nlohmann::json(b);
    if (node.list_type != ListType::map) return false;
    return std::ranges::all_of(node.list_keys, [&](std::string_view key) {
      const auto field = [&](const Tree& tree) {
        if (tree.contains(key) && !tree.at(std::string(key)).is_null()) return tree.at(std::string(key));
        const auto* standard = node.items->property(key)->default_value;
        return standard == nullptr ? Tree() : Tree::parse(json::to_json(*standard));
      };
      return field(a) == field(b);
    });
  }

  Tree object(const validate::schema::Node& node, int depth) {
    Tree out = Tree::object();
    for (const auto& each : node.properties)
      if (each.required || dice_.chance(depth < 1 ? 60 : depth < 4 ? 35 : 15))
        out[std::string(each.name)] = value(*each.node, depth + 1);
    if (node.additional != nullptr)
      for (const char* key : {"first", "second.example.com/key"})
        if (dice_.chance(40)) out[key] = value(*node.additional, depth + 1);
    const auto* limits = node.limits;
    if (limits != nullptr && limits->min_properties && node.additional != nullptr)
      for (std::size_t i = 0; out.size() < *limits->min_properties; ++i)
        out["more-" + std::to_string(i)] = value(*node.additional, depth + 1);
    if (node.preserve_unknown && node.properties.empty()) out["anything"] = {{"goes", true}};
    return out;
  }

  Dice& dice_;
};

/// Changes one place of `tree` (never apiVersion, kind or metadata.name) and says how.
inline std::string mutate(Tree& tree, Dice& dice) {
  // A walk down from the spec that stops at random.
  Tree* parent = nullptr;
  std::string key;
  Tree* at = tree.contains("spec") ? &tree["spec"] : &tree;
  if (at != &tree) parent = &tree, key = "spec";
  while ((at->is_object() || at->is_array()) && !at->empty() && dice.chance(85)) {
    parent = at;
    const std::size_t which = dice.roll(at->size());
    auto next = at->begin();
    std::advance(next, static_cast<std::ptrdiff_t>(which));
    key = at->is_object() ? next.key() : std::to_string(which);
    at = &*next;
  }
  const std::string where = key + ": ";
  switch (dice.roll(13)) {
    case 0:
      if (parent != nullptr && parent->is_object()) {
        parent->erase(key);
        return where + "removed";
      }
      [[fallthrough]];
    case 1:
      if (at->is_object()) {
        (*at)["unknownField"] = "x";
        return where + "unknown field added";
      }
      [[fallthrough]];
    case 2:
      *at = nullptr;
      return where + "null";
    case 3:
      *at = 1234567890123LL;
      return where + "large number";
    case 4:
      *at = -1;
      return where + "-1";
    case 5:
      *at = "";
      return where + "empty text";
    case 6:
      *at = std::string(3000, 'x');
      return where + "long text";
    case 7:
      *at = "Not_A Name!";
      return where + "odd text";
    case 8:
      *at = true;
      return where + "true";
    case 9:
      *at = Tree::array({1, "a", nullptr});
      return where + "mixed list";
    case 10:
      *at = Tree::object({{"unknownField", 1}});
      return where + "odd object";
    case 11:
      if (at->is_array() && !at->empty()) {
        const Tree copy = (*at)[0];
        at->push_back(copy);
        return where + "first item doubled";
      }
      if (at->is_string()) {
        std::string text = at->get<std::string>();
        for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        *at = text;
        return where + "capitals";
      }
      [[fallthrough]];
    default:
      if (at->is_number_integer()) {
        *at = static_cast<double>(at->get<std::int64_t>()) + (dice.chance(50) ? 0.0 : 0.5);
        return where + "fraction";
      }
      *at = 0;
      return where + "0";
  }
}

}  // namespace stackgate::testing
