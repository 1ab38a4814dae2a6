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

const std::string& text(const Tree& tree) { return tree.get_ref<const std::string&>(); }

bool is_appended(std::string_view key) { return key == "required" || key == "x-kubernetes-validations"; }

void merge_into(Tree& base, const Tree& over) {
  for (const auto& [key, value] : over.items()) {
    Tree* there = find(base, key);
    if (value.is_null()) {
      base.erase(key);
    } else if (there != nullptr && there->is_object() && value.is_object()) {
      merge_into(*there, value);
    } else if (there != nullptr && there->is_array() && value.is_array() && is_appended(key)) {
      there->insert(there->end(), value.begin(), value.end());
    } else {
      base[key] = value;
    }
  }
}

void imply_type(Tree& schema) {
  if (find(schema, "type") != nullptr || find(schema, "x-kubernetes-int-or-string") != nullptr) return;
  if (find(schema, "properties") != nullptr || find(schema, "additionalProperties") != nullptr)
    schema["type"] = "object";
  else if (find(schema, "items") != nullptr)
    schema["type"] = "array";
}

Tree ordered(const Tree& schema, const std::string& where) {
  Tree out = Tree::object();
  for (const std::string_view keyword : keyword_order)
    if (const Tree* value = find(schema, keyword)) out[std::string(keyword)] = *value;
  for (const auto& [key, value] : schema.items())
    if (find(out, key) == nullptr) throw SourceError(fmt::format("{}: unknown keyword \"{}\"", where, key));
  return out;
}

void check_required(const Tree& schema, const std::string& where) {
  const Tree* required = find(schema, "required");
  if (required == nullptr) return;
  const Tree& properties = at(schema, "properties", where);
  for (const Tree& name : *required)
    if (find(properties, text(name)) == nullptr)
      throw SourceError(fmt::format("{}: \"{}\" is required but no field", where, text(name)));
}

void check_validations(const Tree& schema, const std::string& where) {
  const Tree* rules = find(schema, "x-kubernetes-validations");
  if (rules == nullptr) return;
  for (const Tree& rule : *rules) {
    (void)at(rule, "rule", where);
    const std::string& message = text(at(rule, "message", where));
    if (!message.ends_with(']') || message.rfind(" [") == std::string::npos)
      throw SourceError(
          fmt::format("{}: the message \"{}\" does not end with its rule id in brackets", where, message));
  }
}

}  // namespace

Fragments::Fragments(const std::filesystem::path& folder) : members_(Tree::object()) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const auto& file : files) {
    const Tree schemas = read_yaml(file);
    for (const auto& [name, schema] : schemas.items()) {
      if (find(members_, name) != nullptr)
        throw SourceError(fmt::format("{}: fragment \"{}\" exists already", file.string(), name));
      members_[name] = schema;
    }
  }
}

const Tree& Fragments::named(const std::string& name, const std::string& where) const {
  if (const Tree* found = find(members_, name)) return *found;
  throw SourceError(fmt::format("{}: no fragment is called \"{}\"", where, name));
}

Tree Fragments::with_fragments(const Tree& authored, const std::string& where, std::size_t depth) const {
  if (depth > 16) throw SourceError(where + ": fragments use each other in a circle");
  const Tree* use = find(authored, "$use");
  if (use == nullptr) return authored;
  Tree out = Tree::object();
  if (use->is_array())
    for (const Tree& name : *use) merge_into(out, with_fragments(named(text(name), where), where, depth + 1));
  else
    out = with_fragments(named(text(*use), where), where, depth + 1);
  Tree rest = authored;
  rest.erase("$use");
  merge_into(out, rest);
  return out;
}

Tree Fragments::expand(const Tree& authored, const std::string& where) const {
  if (!authored.is_object()) throw SourceError(where + ": a schema is a mapping");
  Tree schema = with_fragments(authored, where, 0);
  imply_type(schema);
  if (Tree* properties = find(schema, "properties")) {
    for (const auto& [name, property] : properties->items()) {
      const std::string path = fmt::format("{}.{}", where, name);
      property = expand(property, path);
      if (name != "metadata" && find(property, "description") == nullptr) throw SourceError(path + ": no description");
    }
  }
  for (const char* key : {"items", "additionalProperties"})
    if (Tree* inner = find(schema, key)) *inner = expand(*inner, where + "[]");
  check_required(schema, where);
  check_validations(schema, where);
  return ordered(schema, where);
}

void take_grammars(Tree& schema, Grammars& grammars, const std::string& where) {
  if (!schema.is_object()) return;
  const Tree* pattern = find(schema, "pattern");
  const Tree* grammar = find(schema, "$grammar");
  if (grammar != nullptr && pattern == nullptr) throw SourceError(where + ": a $grammar without a pattern");
  if (pattern != nullptr) {
    const std::string name = grammar == nullptr ? std::string() : text(*grammar);
    if (grammars.try_emplace(text(*pattern), name).first->second != name)
      throw SourceError(fmt::format("{}: the pattern {} has another $grammar elsewhere", where, text(*pattern)));
  }
  schema.erase("$grammar");
  if (Tree* properties = find(schema, "properties"))
    for (const auto& [name, property] : properties->items())
      take_grammars(property, grammars, fmt::format("{}.{}", where, name));
  for (const char* key : {"items", "additionalProperties"})
    if (Tree* inner = find(schema, key)) take_grammars(*inner, grammars, where + "[]");
}

}  // namespace stackgate::crds::generator
