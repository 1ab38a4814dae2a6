#include "services/inference/constrain/schema_compiler.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "services/inference/constrain/disjoint.hpp"
#include "services/inference/constrain/integer_range.hpp"
#include "services/inference/constrain/json_rules.hpp"
#include "services/kit/findings/json_report.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::inference {
namespace {

using json::Value;
using validate::JsonPlace;
using Words = std::initializer_list<std::string_view>;

constexpr std::size_t most_parts = 5000, most_nodes = 200'000;
constexpr std::size_t most_alternatives = 100, most_disjoint = 32, most_properties = 500;
constexpr std::uint32_t most_counted = 1000;  // minItems, maxItems, minLength, maxLength
constexpr std::string_view types[] = {"null", "boolean", "integer", "number", "string", "array", "object"};
constexpr std::string_view combining[] = {"$ref", "const", "enum", "anyOf", "oneOf", "allOf"};
/// Keywords that limit values and are understood.
constexpr std::string_view limiting[] = {"$ref",
                                         "const",
                                         "enum",
                                         "anyOf",
                                         "oneOf",
                                         "allOf",
                                         "type",
                                         "properties",
                                         "required",
                                         "additionalProperties",
                                         "items",
                                         "minItems",
                                         "maxItems",
                                         "minLength",
                                         "maxLength",
                                         "minimum",
                                         "maximum",
                                         "exclusiveMinimum",
                                         "exclusiveMaximum"};
/// Those that are not.
constexpr std::string_view refused[] = {"not",
                                        "if",
                                        "then",
                                        "else",
                                        "dependencies",
                                        "dependentRequired",
                                        "dependentSchemas",
                                        "patternProperties",
                                        "propertyNames",
                                        "minProperties",
                                        "maxProperties",
                                        "pattern",
                                        "multipleOf",
                                        "uniqueItems",
                                        "contains",
                                        "prefixItems",
                                        "additionalItems",
                                        "unevaluatedProperties",
                                        "unevaluatedItems",
                                        "$dynamicRef",
                                        "$recursiveRef"};

class Compiler {
 public:
  Compiler(const Value& root, std::string_view path, validate::Findings& findings)
      : root_(root),
        report_(findings, {}, {"schema-type", "schema-missing", "schema-not-served"}),
        json_(add_json_rules(b_)) {
    const RuleId start = b_.rule();
    b_.grammar().start = start;
    b_.call(b_.call(b_.at(start).start, json_.space), rule_for({std::string(path), root}), b_.at(start).end);
  }

  std::shared_ptr<const Grammar> compiled() {
    while (!work_.empty() && !report_.failed()) {
      const Work next = work_.front();
      work_.pop_front();
      fill({next.path, *next.schema}, b_.at(next.rule).start, b_.at(next.rule).end);
      if (b_.size() > most_nodes || parts_.size() > most_parts)
        refuse({next.path, *next.schema}, "makes the schema too large", "ask for less at once");
    }
    Grammar& out = b_.grammar();
    measure(out);
    if (!report_.failed() && (out.need[out.rules[out.start].start] >= endless || calls_itself_at_once(out)))
      refuse({{}, root_}, "is fulfilled by no value that ends", "let what refers to itself be left out, or be null");
    return report_.failed() ? nullptr : std::make_shared<const Grammar>(std::move(out));
  }

 private:
  struct Work {
    RuleId rule;
    std::string path;
    const Value* schema;
  };

  RuleId rule_for(const JsonPlace& at) {
    const auto [found, added] = parts_.try_emplace(&at.value, 0);
    if (!added) return found->second;
    found->second = b_.rule();
    work_.push_back({found->second, at.path, &at.value});
    return found->second;
  }

  void refuse(const JsonPlace& at, std::string problem, std::string fix) {
    report_.wrong("schema-not-served", at, std::move(problem), std::move(fix));
  }

  void fill(const JsonPlace& at, NodeId from, NodeId to) {
    if (at.value.is_boolean() && at.value.boolean()) return b_.call(from, json_.value, to);
    if (at.value.is_boolean()) return refuse(at, "is fulfilled by no value", "leave it out");
    if (!at.value.is_object()) return report_.wrong_type(at, "a schema");
    for (const std::string_view key : refused)
      if (const Value* found = at.value.find(key); found != nullptr && !(found->is_boolean() && !found->boolean()))
        return refuse(at.member(key, *found), "is not served", "leave it out, and check the answer");
    for (const std::string_view key : combining)
      if (const Value* found = at.value.find(key)) return combine(at, key, *found, from, to);
    by_types(at, from, to);
  }

  /// Beside these nothing else may limit the value, but a type beside constants.
  void combine(const JsonPlace& at, std::string_view key, const Value& found, NodeId from, NodeId to) {
    const bool constant = key == "const" || key == "enum";
    for (const std::string_view other : limiting)
      if (other != key && at.value.find(other) != nullptr && !(constant && other == "type"))
        return refuse(at.member(other, *at.value.find(other)), fmt::format("stands beside \"{}\"", key),
                      "write it into the alternatives");
    const JsonPlace place = at.member(key, found);
    if (key == "$ref") return reference(place, from, to);
    if (key == "const") return constants(at, place, std::span(&found, 1), from, to);
    if (!found.is_array() || found.items().empty()) return report_.wrong_type(place, "a list that is not empty");
    if (key == "enum") return constants(at, place, found.items(), from, to);
    if (const std::size_t most = key == "oneOf" ? most_disjoint : most_alternatives; found.items().size() > most)
      return refuse(place, fmt::format("has more than {} schemas", most), "write fewer");
    if (key == "allOf" && found.items().size() > 1)
      return refuse(place, "has more than one schema", "write them as one");
    if (key == "oneOf" && !all_disjoint(found.items()))
      return refuse(place, "has alternatives that one value may fulfil together",
                    "give each a \"const\" of its own in a required property, or write \"anyOf\"");
    for (std::size_t i = 0; i < found.items().size(); ++i)
      b_.call(from, rule_for(at.item(key, i, found.items()[i])), to);
  }

  bool all_disjoint(std::span<const Value> alternatives) const {
    for (std::size_t i = 0; i < alternatives.size(); ++i)
      for (std::size_t j = i + 1; j < alternatives.size(); ++j)
        if (!disjoint(root_, alternatives[i], alternatives[j])) return false;
    return true;
  }

  void reference(const JsonPlace& at, NodeId from, NodeId to) {
    const Value* target = resolved(root_, at.value.string());
    if (target == nullptr)
      return refuse(at, "names nothing in this schema", "write \"#/$defs/NAME\" of what is defined here");
    b_.call(from, rule_for({at.path, *target}), to);
  }

  static bool has_type(const Value& value, std::string_view type) {
    return json::to_string(value.type()) == type || (type == "number" && value.is_integer());
  }

  void constants(const JsonPlace& schema, const JsonPlace& at, std::span<const Value> values, NodeId from, NodeId to) {
    const std::vector<std::string_view> wanted = types_of(schema);
    bool any = false;
    std::map<std::pair<NodeId, char>, NodeId> shared;  // values that begin alike
    for (const Value& value : values) {
      if (std::ranges::none_of(wanted, [&value](std::string_view type) { return has_type(value, type); })) continue;
      any = true;
      NodeId node = from;
      for (const char c : json::to_json(value)) {
        const auto [next, added] = shared.try_emplace({node, c}, NodeId{});
        if (added) next->second = b_.byte(node, c);
        node = next->second;
      }
      b_.free(node, to);
      if (b_.size() > most_nodes) return;
    }
    if (!any) refuse(at, "has no value of the schema's \"type\"", "write one");
  }

  /// All of them when the schema names none.
  std::vector<std::string_view> types_of(const JsonPlace& at) {
    const Value* found = at.value.find("type");
    if (found == nullptr) return {std::begin(types), std::end(types)};
    std::vector<std::string_view> out;
    for (const Value& each : found->is_array() ? found->items() : std::span(found, 1))
      if (std::ranges::find(types, each.string()) != std::end(types))
        out.push_back(each.string());
      else
        report_.wrong_type(at.member("type", *found), "one of null, boolean, integer, number, string, array, object");
    return out;
  }

  static bool has_any(const Value& schema, Words keys) {
    return std::ranges::any_of(keys, [&schema](std::string_view key) { return schema.find(key) != nullptr; });
  }

  void by_types(const JsonPlace& at, NodeId from, NodeId to) {
    const bool of_object = has_any(at.value, {"properties", "required", "additionalProperties"});
    if (at.value.find("type") == nullptr && of_object) return object(at, from, to);
    if (std::ranges::none_of(limiting, [&at](std::string_view key) { return at.value.find(key) != nullptr; }))
      return b_.call(from, json_.value, to);
    for (const std::string_view type : types_of(at)) {
      if (type == "null") b_.free(b_.literal(from, "null"), to);
      if (type == "boolean")
        for (const std::string_view word : {"true", "false"}) b_.free(b_.literal(from, word), to);
      if (type == "integer") integer(at, from, to);
      if (type == "number") number(at, from, to);
      if (type == "string") string(at, from, to);
      if (type == "array") array(at, from, to);
      if (type == "object") object(at, from, to);
    }
  }

  void number(const JsonPlace& at, NodeId from, NodeId to) {
    for (const std::string_view key : {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
      if (const Value* found = at.value.find(key))
        return refuse(at.member(key, *found), "is served for integers only", "leave it out, and check the answer");
    b_.call(from, json_.number, to);
  }

  /// The whole number that a bound allows, seen from `towards`.
  std::optional<std::int64_t> bound(const JsonPlace& at, std::string_view key, int towards, bool exclusive) {
    const Value* found = at.value.find(key);
    if (found == nullptr) return std::nullopt;
    if (!found->is_number()) return report_.wrong_type(at.member(key, *found), "a number"), std::nullopt;
    constexpr auto most = static_cast<double>(largest_integer);
    const double number = std::clamp(found->number(), -most, most);
    const double whole = towards > 0 ? std::ceil(number) : std::floor(number);
    return static_cast<std::int64_t>(whole) + (exclusive && whole == number ? towards : 0);
  }

  void integer(const JsonPlace& at, NodeId from, NodeId to) {
    if (!has_any(at.value, {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}))
      return b_.call(from, json_.integer, to);
    const std::int64_t least = std::max(bound(at, "minimum", 1, false).value_or(-largest_integer),
                                        bound(at, "exclusiveMinimum", 1, true).value_or(-largest_integer));
    const std::int64_t most = std::min(bound(at, "maximum", -1, false).value_or(largest_integer),
                                       bound(at, "exclusiveMaximum", -1, true).value_or(largest_integer));
    if (least > most)
      return refuse(at, "has bounds between which no integer lies", "write a minimum below the maximum");
    add_integers(b_, from, std::max(least, -largest_integer), std::min(most, largest_integer), to);
  }

  struct Counts {
    std::uint32_t least, most;
  };
  Counts counts(const JsonPlace& at, std::string_view least_key, std::string_view most_key) {
    const Counts out{
        report_.number(at, least_key, 0, most_counted, 0),
        at.value.find(most_key) == nullptr ? any_length : report_.number(at, most_key, 0, most_counted, 0)};
    if (out.least > out.most)
      refuse(at.member(most_key, *at.value.find(most_key)), fmt::format("is less than \"{}\"", least_key),
             "write more");
    return out;
  }

  void string(const JsonPlace& at, NodeId from, NodeId to) {
    if (!has_any(at.value, {"minLength", "maxLength"})) return b_.call(from, json_.string, to);
    const Counts length = counts(at, "minLength", "maxLength");
    NodeId next = b_.byte(from, '"');
    for (std::uint32_t count = 0;; ++count) {
      if (count >= length.least && length.most == any_length) return b_.call(next, json_.rest, to);
      if (count >= length.least) b_.bytes(next, '"', '"', to);
      if (count >= length.most || report_.failed()) return;
      next = b_.call(next, json_.character);
    }
  }

  void array(const JsonPlace& at, NodeId from, NodeId to) {
    const Counts length = counts(at, "minItems", "maxItems");
    const Value* items = at.value.find("items");
    if (items != nullptr && items->is_array())
      return refuse(at.member("items", *items), "is a list", "write one schema for all items");
    if (report_.failed()) return;
    add_list(b_, json_, from, items == nullptr ? json_.value : rule_for(at.member("items", *items)), length.least,
             length.most, to);
  }

  struct Property {
    std::string_view key;
    RuleId value;
    bool required;
  };

  /// Those of "properties", and what else is required.
  std::vector<Property> properties(const JsonPlace& at, RuleId others) {
    std::vector<Property> out;
    if (const Value* found = at.value.find("properties")) {
      if (!found->is_object()) return report_.wrong_type(at.member("properties", *found), "an object"), out;
      const JsonPlace place = at.member("properties", *found);
      for (const json::Member& each : found->members())
        out.push_back({each.key, rule_for(place.member(each.key, each.value)), false});
    }
    const Value* required = at.value.find("required");
    if (required == nullptr) return out;
    if (!required->is_array()) return report_.wrong_type(at.member("required", *required), "a list of names"), out;
    std::map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < out.size(); ++i) places.emplace(out[i].key, i);
    for (const Value& name : required->items()) {
      const auto [found, added] = places.try_emplace(name.string(), out.size());
      if (added) out.push_back({name.string(), others, false});
      out[found->second].required = true;
    }
    return out;
  }

  void object(const JsonPlace& at, NodeId from, NodeId to) {
    const Value* more = at.value.find("additionalProperties");
    const bool closed = more != nullptr && more->is_boolean() && !more->boolean();
    const RuleId others =
        more == nullptr || more->is_boolean() ? json_.value : rule_for(at.member("additionalProperties", *more));
    const std::vector<Property> members = properties(at, others);
    if (members.size() > most_properties)
      return refuse(at, fmt::format("has more than {} properties", most_properties), "write fewer");
    if (members.empty() && !closed) return add_map(b_, json_, from, others, to);
    if (closed && at.value.find("required") != nullptr && undefined(at, members))
      return refuse(at.member("required", *at.value.find("required")),
                    "names a property that is none of \"properties\"", "define it");
    write_members(members, from, to);
  }

  static bool undefined(const JsonPlace& at, const std::vector<Property>& members) {
    const Value* known = at.value.find("properties");
    return std::ranges::any_of(
        members, [known](const Property& each) { return known == nullptr || known->find(each.key) == nullptr; });
  }

  /// In the schema's order; what is not required may be left out. Two ways run side by side: nothing written yet, and
  /// something, which needs a comma.
  void write_members(const std::vector<Property>& members, NodeId from, NodeId to) {
    NodeId first = b_.call(b_.byte(from, '{'), json_.space), behind = b_.node();
    for (const Property& each : members) {
      const NodeId begin = b_.node(), next_first = b_.node(), next_behind = b_.node();
      b_.free(first, begin);
      b_.call(b_.byte(behind, ','), json_.space, begin);
      std::string key;
      json::append_quoted(key, each.key);
      b_.call(b_.call(b_.literal(begin, key + ":"), json_.space), each.value, next_behind);
      if (!each.required) b_.free(first, next_first);
      if (!each.required) b_.free(behind, next_behind);
      first = next_first;
      behind = next_behind;
    }
    for (const NodeId each : {first, behind}) b_.bytes(b_.call(each, json_.space), '}', '}', to);
  }

  const Value& root_;
  validate::JsonReport report_;
  GrammarBuilder b_;
  JsonRules json_;
  std::map<const Value*, RuleId> parts_;
  std::deque<Work> work_;
};

}  // namespace

std::shared_ptr<const Grammar> json_object_grammar() {
  static const std::shared_ptr<const Grammar> made = [] {
    GrammarBuilder builder;
    const JsonRules json = add_json_rules(builder);
    const RuleId start = builder.rule();
    builder.call(builder.call(builder.at(start).start, json.space), json.object, builder.at(start).end);
    builder.grammar().start = start;
    measure(builder.grammar());
    return std::make_shared<const Grammar>(std::move(builder.grammar()));
  }();
  return made;
}

std::expected<std::shared_ptr<const Grammar>, validate::Findings> compile_schema(const json::Value& schema,
                                                                                 std::string_view path) {
  validate::Findings findings;
  auto out = Compiler(schema, path, findings).compiled();
  if (!out) return std::unexpected(std::move(findings));
  return out;
}

}  // namespace stackgate::inference
