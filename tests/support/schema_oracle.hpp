// schema::check held against valijson: the same question put so that both can answer it.
//
// Known differences, levelled before the comparison:
// - null: dropped from fields that are not nullable (as the API server does) before valijson sees the object
// - defaults: written into the object
// - 1.0 for an integer: written as 1
// - nullable, x-kubernetes-int-or-string: rewritten as types; unknown fields: additionalProperties false
// - list-type map and set, formats, embedded resources: valijson knows none; their faults are left out
#pragma once
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/json_schema/json_schema.hpp"
#include "services/kit/schema/check.hpp"

namespace stackgate::testing {

using OracleTree = nlohmann::ordered_json;

/// A structural schema in draft 4.
inline OracleTree to_draft4(const OracleTree& schema, bool structural = true) {
  static constexpr const char* same[] = {
      "type",          "enum",          "minimum",     "maximum", "exclusiveMinimum", "exclusiveMaximum",
      "multipleOf",    "minLength",     "maxLength",   "pattern", "minItems",         "maxItems",
      "minProperties", "maxProperties", "uniqueItems", "required"};
  OracleTree out = OracleTree::object();
  for (const char* word : same)
    if (schema.contains(word)) out[word] = schema[word];
  if (schema.value("x-kubernetes-int-or-string", false)) out["type"] = {"integer", "string"};
  if (schema.value("nullable", false) && out.contains("type")) {
    if (out["type"].is_string())
      out["type"] = OracleTree::array({out["type"], "null"});
    else
      out["type"].push_back("null");
  }
  if (schema.contains("properties"))
    for (const auto& [name, each] : schema["properties"].items()) out["properties"][name] = to_draft4(each, structural);
  if (schema.contains("items")) out["items"] = to_draft4(schema["items"], structural);
  if (schema.contains("additionalProperties"))
    out["additionalProperties"] = schema["additionalProperties"].is_object()
                                      ? to_draft4(schema["additionalProperties"], structural)
                                      : schema["additionalProperties"];
  else if (structural && schema.value("type", "") == "object" &&
           !schema.value("x-kubernetes-preserve-unknown-fields", false))
    out["additionalProperties"] = false;
  for (const char* word : {"anyOf", "oneOf", "allOf"})
    if (schema.contains(word) && !schema.value("x-kubernetes-int-or-string", false))
      for (const auto& each : schema[word]) out[word].push_back(to_draft4(each, false));
  if (schema.contains("not")) out["not"] = to_draft4(schema["not"], false);
  return out;
}

/// What the API server makes of an object before it validates.
inline void settle(OracleTree& value, const validate::schema::Node* node) {
  if (node == nullptr) return;
  if (value.is_number_float() && node->accepts != 0 && (node->type == json::Type::integer || node->int_or_string)) {
    const double number = value.get<double>();
    if (std::trunc(number) == number && std::abs(number) <= 9007199254740991.0)
      value = static_cast<std::int64_t>(number);
  } else if (value.is_object()) {
    std::vector<std::string> dropped;
    for (auto& [key, member] : value.items()) {
      const auto* child = node->property(key);
      if (child == nullptr) child = node->additional;
      if (member.is_null() && child != nullptr && !child->nullable)
        dropped.push_back(key);
      else
        settle(member, child);
    }
    for (const std::string& key : dropped) value.erase(key);
    for (const auto& each : node->properties)
      if (each.node->default_value != nullptr && !value.contains(each.name)) {
        OracleTree standard = OracleTree::parse(json::to_json(*each.node->default_value));
        settle(standard, each.node);
        value[std::string(each.name)] = std::move(standard);
      }
  } else if (value.is_array()) {
    for (auto& item : value) settle(item, node->items);
  }
}

/// The first disagreement, or nothing.
inline std::optional<std::string> disagreement(const validate::schema::Node& node, const validate::JsonSchema& oracle,
                                               const OracleTree& object) {
  using validate::schema::Fault;
  json::Document document, settled_document;
  const std::string text = object.dump();
  const auto value = json::parse(text, document);
  if (!value) return std::nullopt;  // not JSON by our parser's rules: not this question
  OracleTree settled = object;
  settle(settled, &node);
  const std::string settled_text = settled.dump();
  const auto settled_value = json::parse(settled_text, settled_document);
  if (!settled_value) return std::nullopt;

  auto ours = validate::schema::check(node, *value, nullptr, {.max_faults = 1000});
  std::erase_if(ours, [](const auto& each) { return each.fault == Fault::duplicate || each.fault == Fault::format; });
  const auto theirs = oracle.check(*settled_value, 1000);
  const auto tell = [&](const std::string& what) {
    std::string out = what + "\n  object " + text.substr(0, 2000) + "\n  ours:";
    for (const auto& each : ours) out += "\n    " + each.path + " " + each.problem;
    out += "\n  valijson:";
    for (const auto& each : theirs) out += "\n    " + each.path + " " + each.problem;
    return out;
  };
  if (ours.empty() != theirs.empty()) return tell("the verdicts differ");
  const auto covers = [](const std::string& path, const std::string& of) {
    return of == path || (of.starts_with(path) && (path.empty() || of[path.size()] == '.' || of[path.size()] == '['));
  };
  for (const auto& mine : ours) {
    if (mine.fault == Fault::combination) continue;
    // A null that is missing stands where it is written; valijson no longer sees it.
    if (std::ranges::none_of(theirs, [&](const auto& each) {
          return each.path == mine.path || (each.fault == Fault::combination && covers(each.path, mine.path));
        }))
      return tell("only ours: " + mine.path);
  }
  for (const auto& each : theirs) {
    // What valijson says about the branches of a combination, ours sums up, or has no reason to look at.
    if (std::ranges::any_of(theirs, [&](const auto& other) {
          return other.fault == Fault::combination && covers(other.path, each.path);
        }))
      continue;
    if (std::ranges::none_of(
            ours, [&](const auto& mine) { return covers(mine.path, each.path) || covers(each.path, mine.path); }))
      return tell("only valijson: " + each.path);
  }
  return std::nullopt;
}

}  // namespace stackgate::testing
