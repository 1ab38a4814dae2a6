#include "crds/generator/schema.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace stackgate::crds::generator {
namespace {

constexpr std::array<std::string_view, 35> keyword_order{"description",
                                                         "type",
                                                         "format",
                                                         "nullable",
                                                         "enum",
                                                         "default",
                                                         "minimum",
                                                         "exclusiveMinimum",
                                                         "maximum",
                                                         "exclusiveMaximum",
                                                         "multipleOf",
                                                         "minLength",
                                                         "maxLength",
                                                         "pattern",
                                                         "$grammar",
                                                         "minItems",
                                                         "maxItems",
                                                         "minProperties",
                                                         "maxProperties",
                                                         "required",
                                                         "anyOf",
                                                         "allOf",
                                                         "oneOf",
                                                         "not",
                                                         "properties",
                                                         "additionalProperties",
                                                         "items",
                                                         "x-kubernetes-int-or-string",
                                                         "x-kubernetes-preserve-unknown-fields",
                                                         "x-kubernetes-embedded-resource",
                                                         "x-kubernetes-list-type",
                                                         "x-kubernetes-list-map-keys",
                                                         "x-kubernetes-map-type",
                                                         "x-kubernetes-validations",
                                                         "example"};

bool is_appended(std::string_view key) { return key == "required" || key == "x-kubernetes-validations"; }

void merge_into(Tree& base, const Tree& over) {
  for (const auto& [key, value] : over.members) {
    Tree* there = base.find(key);
    if (value.type == Tree::Type::null) {
      base.erase(key);
    } else if (there != nullptr && there->is_map() && value.is_map()) {
      merge_into(*there, value);
    } else if (there != nullptr && there->is_list() && value.is_list() && is_appended(key)) {
      there->items.insert(there->items.end(), value.items.begin(), value.items.end());
    } else {
      base.set(key, value);
    }
  }
}

void imply_type(Tree& schema) {
  if (schema.find("type") != nullptr || schema.find("x-kubernetes-int-or-string") != nullptr) return;
  if (schema.find("properties") != nullptr || schema.find("additionalProperties") != nullptr)
    schema.set("type", Tree::text("object"));
  else if (schema.find("items") != nullptr)
    schema.set("type", Tree::text("array"));
}

Tree ordered(const Tree& schema, const std::string& where) {
  Tree out = Tree::map();
  for (const std::string_view keyword : keyword_order)
    if (const Tree* value = schema.find(keyword)) out.members.emplace_back(keyword, *value);
  for (const auto& [key, value] : schema.members)
    if (out.find(key) == nullptr) throw SourceError(fmt::format("{}: unknown keyword \"{}\"", where, key));
  return out;
}

void check_required(const Tree& schema, const std::string& where) {
  const Tree* required = schema.find("required");
  if (required == nullptr) return;
  const Tree& properties = schema.at("properties", where);
  for (const Tree& name : required->items)
    if (properties.find(name.scalar) == nullptr)
      throw SourceError(fmt::format("{}: \"{}\" is required but no field", where, name.scalar));
}

void check_validations(const Tree& schema, const std::string& where) {
  const Tree* rules = schema.find("x-kubernetes-validations");
  if (rules == nullptr) return;
  for (const Tree& rule : rules->items) {
    (void)rule.at("rule", where);
    const std::string& message = rule.at("message", where).scalar;
    if (!message.ends_with(']') || message.rfind(" [") == std::string::npos)
      throw SourceError(
          fmt::format("{}: the message \"{}\" does not end with its rule id in brackets", where, message));
  }
}

}  // namespace

Fragments::Fragments(const std::filesystem::path& folder) : members_(Tree::map()) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const auto& file : files) {
    for (const auto& [name, schema] : read_yaml(file).members) {
      if (members_.find(name) != nullptr)
        throw SourceError(fmt::format("{}: fragment \"{}\" exists already", file.string(), name));
      members_.members.emplace_back(name, schema);
    }
  }
}

const Tree& Fragments::named(const std::string& name, const std::string& where) const {
  if (const Tree* found = members_.find(name)) return *found;
  throw SourceError(fmt::format("{}: no fragment is called \"{}\"", where, name));
}

Tree Fragments::with_fragments(const Tree& authored, const std::string& where, std::size_t depth) const {
  if (depth > 16) throw SourceError(where + ": fragments use each other in a circle");
  const Tree* use = authored.find("$use");
  if (use == nullptr) return authored;
  Tree out = Tree::map();
  if (use->is_list())
    for (const Tree& name : use->items) merge_into(out, with_fragments(named(name.scalar, where), where, depth + 1));
  else
    out = with_fragments(named(use->scalar, where), where, depth + 1);
  Tree rest = authored;
  rest.erase("$use");
  merge_into(out, rest);
  return out;
}

Tree Fragments::expand(const Tree& authored, const std::string& where) const {
  if (!authored.is_map()) throw SourceError(where + ": a schema is a mapping");
  Tree schema = with_fragments(authored, where, 0);
  imply_type(schema);
  if (Tree* properties = schema.find("properties")) {
    for (auto& [name, property] : properties->members) {
      const std::string path = fmt::format("{}.{}", where, name);
      property = expand(property, path);
      if (name != "metadata" && property.find("description") == nullptr) throw SourceError(path + ": no description");
    }
  }
  for (const char* key : {"items", "additionalProperties"})
    if (Tree* inner = schema.find(key)) *inner = expand(*inner, where + "[]");
  check_required(schema, where);
  check_validations(schema, where);
  return ordered(schema, where);
}

void take_grammars(Tree& schema, Grammars& grammars, const std::string& where) {
  if (!schema.is_map()) return;
  const Tree* pattern = schema.find("pattern");
  const Tree* grammar = schema.find("$grammar");
  if (grammar != nullptr && pattern == nullptr) throw SourceError(where + ": a $grammar without a pattern");
  if (pattern != nullptr) {
    const std::string name = grammar == nullptr ? std::string() : grammar->scalar;
    if (grammars.try_emplace(pattern->scalar, name).first->second != name)
      throw SourceError(fmt::format("{}: the pattern {} has another $grammar elsewhere", where, pattern->scalar));
  }
  schema.erase("$grammar");
  if (Tree* properties = schema.find("properties"))
    for (auto& [name, property] : properties->members) take_grammars(property, grammars, where + "." + name);
  for (const char* key : {"items", "additionalProperties"})
    if (Tree* inner = schema.find(key)) take_grammars(*inner, grammars, where + "[]");
}

}  // namespace stackgate::crds::generator
