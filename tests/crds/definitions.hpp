// The embedded definitions as trees, and a way to name a place in their schemas.
#pragma once
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "crds/embedded.hpp"
#include "services/kit/json/parse.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::crds {

inline const std::filesystem::path crds_folder = test::source_dir() / "crds";

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Parsed once for all tests of the program.
inline const json::Value& definition(Kind kind) {
  static std::array<json::Document, kinds.size()> documents;
  json::Document& document = documents[static_cast<std::size_t>(kind)];
  if (!document.root.is_object()) {
    const auto parsed = json::parse(definition_json(kind), document);
    EXPECT_TRUE(parsed) << info(kind).name << ": " << (parsed ? "" : parsed.error().message);
  }
  return document.root;
}

inline const json::Value* member(const json::Value* value, std::string_view key) {
  return value == nullptr ? nullptr : value->find(key);
}

inline const json::Value* version(Kind kind) {
  const json::Value* versions = member(definition(kind).find("spec"), "versions");
  return versions == nullptr || versions->items().size() != 1 ? nullptr : &versions->items()[0];
}

inline const json::Value* root_schema(Kind kind) { return member(member(version(kind), "schema"), "openAPIV3Schema"); }

/// "spec.env[].name": `[]` steps into the items of a list, `{}` into the values of a map. nullptr: no such place.
inline const json::Value* schema_at(Kind kind, std::string_view path) {
  const json::Value* at = root_schema(kind);
  while (!path.empty() && at != nullptr) {
    if (path.starts_with("[]") || path.starts_with("{}")) {
      at = member(at, path.starts_with("[]") ? "items" : "additionalProperties");
      path.remove_prefix(2);
    } else {
      if (path.front() == '.') path.remove_prefix(1);
      const std::size_t end = std::min(path.find_first_of(".[{"), path.size());
      at = member(member(at, "properties"), path.substr(0, end));
      path.remove_prefix(end);
    }
  }
  return at;
}

inline std::vector<std::string> texts(const json::Value* list) {
  std::vector<std::string> out;
  if (list != nullptr)
    for (const json::Value& item : list->items()) out.emplace_back(item.string());
  return out;
}

/// Every place of a schema, parents first, as schema_at() names them.
inline void walk_schema(const json::Value& schema, const std::string& path, auto&& visit) {
  visit(path, schema);
  if (const json::Value* properties = schema.find("properties"))
    for (const json::Member& each : properties->members())
      walk_schema(each.value, path.empty() ? std::string(each.key) : path + "." + std::string(each.key), visit);
  if (const json::Value* items = schema.find("items")) walk_schema(*items, path + "[]", visit);
  if (const json::Value* values = schema.find("additionalProperties"); values != nullptr && values->is_object())
    walk_schema(*values, path + "{}", visit);
}

}  // namespace stackgate::crds
