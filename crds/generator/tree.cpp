#include "crds/generator/tree.hpp"

#include <algorithm>
#include <regex>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

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

Tree from_scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return Tree::text(text);  // quoted, or a block
  static const std::regex number(R"([-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)");
  if (text == "true" || text == "false") return Tree::boolean(text == "true");
  if (std::regex_match(text, number)) return Tree::number(text);
  return Tree::text(text);
}

Tree from_node(const YAML::Node& node, const std::string& file) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return from_scalar(node);
    case YAML::NodeType::Sequence: {
      Tree out = Tree::list();
      for (const auto& item : node) out.items.push_back(from_node(item, file));
      return out;
    }
    case YAML::NodeType::Map: {
      Tree out = Tree::map();
      for (const auto& member : node) {
        const std::string key = member.first.as<std::string>();
        if (out.find(key) != nullptr)
          throw SourceError(fmt::format("{}:{}: duplicate key \"{}\"", file, member.first.Mark().line + 1, key));
        out.members.emplace_back(key, from_node(member.second, file));
      }
      return out;
    }
    default:
      return {};
  }
}

}  // namespace

Tree read_yaml(const std::filesystem::path& file) {
  try {
    return from_node(YAML::LoadFile(file.string()), file.string());
  } catch (const YAML::Exception& error) {
    throw SourceError(fmt::format("{}:{}: {}", file.string(), error.mark.line + 1, error.msg));
  }
}

}  // namespace stackgate::crds::generator
