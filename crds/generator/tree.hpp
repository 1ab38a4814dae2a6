// YAML as the generator sees it: a tree whose mappings keep the order they were written in.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stackgate::crds::generator {

/// Anything wrong with the sources: the generator stops and prints it.
struct SourceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Tree {
  enum class Type { null, boolean, number, string, list, map };

  Type type = Type::null;
  std::string scalar;  // of a boolean, number or string: its JSON text, or the string itself
  std::vector<Tree> items;
  std::vector<std::pair<std::string, Tree>> members;

  static Tree text(std::string_view value);
  static Tree number(std::string_view value);
  static Tree boolean(bool value);
  static Tree list(std::vector<Tree> items = {});
  static Tree map(std::vector<std::pair<std::string, Tree>> members = {});

  bool is_map() const { return type == Type::map; }
  bool is_list() const { return type == Type::list; }
  const Tree* find(std::string_view key) const;
  Tree* find(std::string_view key);
  /// The member of that name, or SourceError naming `where`.
  const Tree& at(std::string_view key, std::string_view where) const;
  /// Replaces or appends.
  void set(std::string_view key, Tree value);
  void erase(std::string_view key);
};

/// One YAML document, read as kubectl reads it; a duplicate key is a SourceError.
Tree read_yaml(const std::filesystem::path& file);

std::string to_yaml(const Tree& tree);
std::string to_compact_json(const Tree& tree);

}  // namespace stackgate::crds::generator
