#include "services/kit/json_schema/explain.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "services/kit/findings/nearest.hpp"
#include "services/kit/schema/wording.hpp"

namespace stackgate::validate::json_schema {
namespace explain_detail {

using Json = nlohmann::json;

constexpr std::size_t most_words = 20;
constexpr int most_references = 16;  // a schema may refer to itself

const Json* resolved(const Json& root, const Json* node) {
  for (int i = 0; node != nullptr && i < most_references; ++i) {
    if (!node->is_object()) return nullptr;
    const auto reference = node->find("$ref");
    if (reference == node->end()) return node;
    if (!reference->is_string() || !reference->get_ref<const std::string&>().starts_with('#')) return nullptr;
    try {
      node = &root.at(Json::json_pointer(reference->get_ref<const std::string&>().substr(1)));
    } catch (const Json::exception&) {
      return nullptr;
    }
  }
  return nullptr;
}

const Json* keyword(const Json* node, const char* name) {
  if (node == nullptr || !node->is_object()) return nullptr;
  const auto found = node->find(name);
  return found == node->end() ? nullptr : &*found;
}

std::optional<std::uint64_t> count(const Json* node, const char* name) {
  const Json* value = keyword(node, name);
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  return value->get<std::uint64_t>();
}

std::string listed(const std::vector<std::string>& words, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < std::min(words.size(), most_words); ++i) {
    if (i > 0) out += i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
    out += words[i];
  }
  return words.size() > most_words ? out + ", …" : out;
}

std::string word_of(const Json& value) {
  const bool plain = value.is_string() && !value.get_ref<const std::string&>().empty();
  return plain ? value.get<std::string>() : value.dump();
}

std::vector<std::string> allowed(const Json* node) {
  std::vector<std::string> out;
  if (const Json* one = keyword(node, "const")) return {word_of(*one)};
  if (const Json* list = keyword(node, "enum"); list != nullptr && list->is_array())
    for (const Json& each : *list) out.push_back(word_of(each));
  return out;
}

std::string_view type_words(std::string_view type) {
  for (const json::Type each : {json::Type::null, json::Type::boolean, json::Type::integer, json::Type::number,
                                json::Type::string, json::Type::array, json::Type::object}) {
    if (json::to_string(each) == type) return schema::with_article(each);
  }
  return "";
}

/// "a string", "a number or null"; empty where the schema takes anything.
std::string types(const Json* node) {
  const Json* type = keyword(node, "type");
  if (type == nullptr) return {};
  if (type->is_string()) return std::string(type_words(type->get_ref<const std::string&>()));
  std::vector<std::string> words;
  if (type->is_array())
    for (const Json& each : *type)
      if (each.is_string()) words.emplace_back(type_words(each.get_ref<const std::string&>()));
  return listed(words, "or");
}

/// "at least 1 and at most 5".
std::string range(const Json* node) {
  std::vector<std::string> words;
  const auto limit = [&](const char* name, const char* exclusive, std::string_view from, std::string_view beyond) {
    const Json* value = keyword(node, name);
    const Json* open = keyword(node, exclusive);
    const bool is_open = open != nullptr && open->is_boolean() && open->get<bool>();  // draft 4
    if (value != nullptr && value->is_number())
      words.push_back(fmt::format("{} {}", is_open ? beyond : from, value->dump()));
    if (open != nullptr && open->is_number()) words.push_back(fmt::format("{} {}", beyond, open->dump()));
  };
  limit("minimum", "exclusiveMinimum", "at least", "larger than");
  limit("maximum", "exclusiveMaximum", "at most", "smaller than");
  return listed(words, "and");
}

std::vector<std::string> fields(const Json* node) {
  std::vector<std::string> out;
  if (const Json* required = keyword(node, "required"); required != nullptr && required->is_array())
    for (const Json& each : *required)
      if (each.is_string()) out.push_back(each.get<std::string>());
  if (const Json* properties = keyword(node, "properties"); properties != nullptr && properties->is_object())
    for (const auto& [name, each] : properties->items())
      if (std::ranges::find(out, name) == out.end()) out.push_back(name);
  return out;
}

/// What to write: "one of a, b or c", "an integer that is at least 1".
std::string described(const Json* node) {
  const std::vector<std::string> words = allowed(node);
  if (words.size() == 1) return words[0];
  if (!words.empty()) return "one of " + listed(words, "or");
  std::string out = types(node);
  if (const std::string limits = range(node); !out.empty() && !limits.empty()) out += " that is " + limits;
  return out;
}

std::uint64_t characters(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

void explain_length(schema::SchemaFault& fault, const Json* node) {
  if (fault.value == nullptr) return;
  struct Kind {
    const char *least, *most;
    std::string_view what;
    std::uint64_t have;
  };
  const json::Value& value = *fault.value;
  const Kind kind = value.is_string()  ? Kind{"minLength", "maxLength", "character", characters(value.string())}
                    : value.is_array() ? Kind{"minItems", "maxItems", "item", value.items().size()}
                                       : Kind{"minProperties", "maxProperties", "field", value.members().size()};
  schema::Problem problem;
  if (const auto most = count(node, kind.most); most && kind.have > *most)
    problem = schema::describe_too_many(*most, kind.have, kind.what);
  else if (const auto least = count(node, kind.least); least && kind.have < *least)
    problem = schema::describe_too_few(*least, kind.have, kind.what, schema::Without::nothing);
  else
    return;
  fault.problem = std::move(problem.problem);
  fault.fix = std::move(problem.fix);
}

void explain_unknown(schema::SchemaFault& fault, const Json* node, std::string_view name) {
  const std::vector<std::string> names = fields(node);
  const std::vector<std::string_view> views(names.begin(), names.end());
  if (names.empty()) {
    fault.fix = "remove it: no field is known here";
  } else if (const std::string_view like = similar_field(name, views); !like.empty()) {
    fault.problem = fmt::format("unknown field; did you mean \"{}\"?", like);
    fault.fix = fmt::format("write {}, or remove the field", like);
  } else {
    fault.fix = fmt::format("remove it; the fields here are {}", listed(names, "and"));
  }
}

}  // namespace explain_detail

const nlohmann::json* schema_of_member(const nlohmann::json& root, const nlohmann::json* node, std::string_view key) {
  using namespace explain_detail;
  node = resolved(root, node);
  if (const Json* properties = keyword(node, "properties"); properties != nullptr && properties->is_object())
    if (const auto found = properties->find(std::string(key)); found != properties->end()) return &*found;
  if (keyword(node, "patternProperties") != nullptr) return nullptr;
  return keyword(node, "additionalProperties");
}

const nlohmann::json* schema_of_item(const nlohmann::json& root, const nlohmann::json* node, std::size_t index) {
  using namespace explain_detail;
  node = resolved(root, node);
  const Json* items = keyword(node, "items");
  if (items == nullptr || !items->is_array()) return items;
  return index < items->size() ? &(*items)[index] : keyword(node, "additionalItems");
}

bool allows_member(const nlohmann::json& root, const nlohmann::json* node, std::string_view key) {
  using namespace explain_detail;
  node = resolved(root, node);
  const Json* others = keyword(node, "additionalProperties");
  if (others == nullptr || !others->is_boolean() || others->get<bool>()) return true;
  // Which names a pattern takes is not worked out again here.
  if (keyword(node, "patternProperties") != nullptr) return true;
  const Json* properties = keyword(node, "properties");
  return properties != nullptr && properties->is_object() && properties->contains(std::string(key));
}

void explain(schema::SchemaFault& fault, const nlohmann::json& root, const nlohmann::json* node,
             std::string_view name) {
  using namespace explain_detail;
  node = resolved(root, node);
  if (node == nullptr) return;
  switch (fault.fault) {
    case schema::Fault::type:
      if (const std::string needed = types(node); !needed.empty() && fault.value != nullptr) {
        fault.problem =
            fmt::format("must be {}, but is {}", needed,
                        fault.value->is_boolean() ? "true or false" : schema::with_article(fault.value->type()));
        fault.fix = fmt::format("write {}", described(node));
      }
      return;
    case schema::Fault::required:
      if (const std::string needed = described(resolved(root, schema_of_member(root, node, name))); !needed.empty())
        fault.fix = fmt::format("add \"{}\", {}", name, needed);
      else
        fault.fix = fmt::format("add \"{}\"", name);
      return;
    case schema::Fault::unknown:
      return explain_unknown(fault, node, name);
    case schema::Fault::enumeration: {
      const std::vector<std::string> words = allowed(node);
      if (words.empty()) return;
      fault.problem = fmt::format("must be {}{}", words.size() == 1 ? "" : "one of ", listed(words, "or"));
      const std::vector<std::string_view> views(words.begin(), words.end());
      const std::string_view like = fault.value == nullptr ? std::string_view() : nearest(fault.value->string(), views);
      fault.fix = !like.empty()       ? fmt::format("write {}", like)
                  : words.size() == 1 ? fmt::format("write {}", words[0])
                                      : "write one of them, with exactly these letters";
      return;
    }
    case schema::Fault::range: {
      const Json* step = keyword(node, "multipleOf");
      if (fault.problem.contains("multiple") && step != nullptr) {
        fault.problem = fmt::format("must be a multiple of {}", step->dump());
        fault.fix = fmt::format("write a multiple of {}", step->dump());
      } else if (const std::string limits = range(node); !limits.empty()) {
        fault.problem = fmt::format("must be {}", limits);
        fault.fix = fmt::format("write a number that is {}", limits);
      }
      return;
    }
    case schema::Fault::length:
      return explain_length(fault, node);
    default:
      return;
  }
}

}  // namespace stackgate::validate::json_schema
