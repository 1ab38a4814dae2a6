#include "crds/generator/tree.hpp"

#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/yaml/parse.hpp"
#include "services/kit/yaml_writer/write.hpp"

namespace stackgate::crds::generator {

Tree Tree::text(std::string_view value) {
  return {.type = Type::string, .scalar = std::string(value), .items = {}, .members = {}};
}
Tree Tree::number(std::string_view value) {
  return {.type = Type::number, .scalar = std::string(value), .items = {}, .members = {}};
}
Tree Tree::boolean(bool value) {
  return {.type = Type::boolean, .scalar = value ? "true" : "false", .items = {}, .members = {}};
}
Tree Tree::list(std::vector<Tree> items) {
  return {.type = Type::list, .scalar = {}, .items = std::move(items), .members = {}};
}
Tree Tree::map(std::vector<std::pair<std::string, Tree>> members) {
  return {.type = Type::map, .scalar = {}, .items = {}, .members = std::move(members)};
}

const Tree* Tree::find(std::string_view key) const {
  for (const auto& [name, value] : members)
    if (name == key) return &value;
  return nullptr;
}

Tree* Tree::find(std::string_view key) {
  return const_cast<Tree*>(static_cast<const Tree*>(this)->find(key));  // NOLINT: the same lookup, this is not const
}

const Tree& Tree::at(std::string_view key, std::string_view where) const {
  if (const Tree* found = find(key)) return *found;
  throw SourceError(fmt::format("{}: no \"{}\"", where, key));
}

void Tree::set(std::string_view key, Tree value) {
  if (Tree* found = find(key))
    *found = std::move(value);
  else
    members.emplace_back(key, std::move(value));
}

void Tree::erase(std::string_view key) {
  std::erase_if(members, [&](const auto& member) { return member.first == key; });
}

namespace {

Tree from_value(const json::Value& value) {
  switch (value.type()) {
    case json::Type::null:
      return {};
    case json::Type::boolean:
      return Tree::boolean(value.boolean());
    case json::Type::integer:
    case json::Type::number:
      return Tree::number(json::to_json(value));
    case json::Type::string:
      return Tree::text(value.string());
    case json::Type::array: {
      Tree out = Tree::list();
      for (const json::Value& item : value.items()) out.items.push_back(from_value(item));
      return out;
    }
    case json::Type::object: {
      Tree out = Tree::map();
      for (const json::Member& member : value.members()) out.members.emplace_back(member.key, from_value(member.value));
      return out;
    }
  }
  return {};
}

void append_json(std::string& out, const Tree& tree) {
  switch (tree.type) {
    case Tree::Type::null:
      out += "null";
      return;
    case Tree::Type::boolean:
    case Tree::Type::number:
      out += tree.scalar;
      return;
    case Tree::Type::string:
      return json::append_quoted(out, tree.scalar);
    case Tree::Type::list:
      out += '[';
      for (const Tree& item : tree.items) {
        append_json(out, item);
        out += &item == &tree.items.back() ? "" : ",";
      }
      out += ']';
      return;
    case Tree::Type::map:
      out += '{';
      for (const auto& member : tree.members) {
        json::append_quoted(out, member.first);
        out += ':';
        append_json(out, member.second);
        out += &member == &tree.members.back() ? "" : ",";
      }
      out += '}';
      return;
  }
}

}  // namespace

Tree read_yaml(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw SourceError(fmt::format("cannot read {}", file.string()));
  const yaml::Stream stream = yaml::parse(text);
  if (stream.failed)
    throw SourceError(
        fmt::format("{}:{}: {}", file.string(), yaml::locate(text, stream.error.offset).line, stream.error.message));
  if (stream.documents.size() != 1) throw SourceError(fmt::format("{}: is not one document", file.string()));
  return from_value(stream.documents.front().root);
}

std::string to_compact_json(const Tree& tree) {
  std::string out;
  append_json(out, tree);
  return out;
}

std::string to_yaml(const Tree& tree) {
  const std::string text = to_compact_json(tree);
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root) throw SourceError(root.error().message);
  return yaml::to_yaml(*root);
}

}  // namespace stackgate::crds::generator
