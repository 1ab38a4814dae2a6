// YAML as the generator sees it: a tree whose mappings keep the order they were written in.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace stackgate::crds::generator {

using Tree = nlohmann::ordered_json;

/// Anything wrong with the sources: the generator stops and prints it.
struct SourceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The member of that name, or nullptr. `tree` is a Tree.
template <class T>
T* find(T& tree, std::string_view key) {
  const auto found = tree.find(std::string(key));
  return found == tree.end() ? nullptr : &*found;
}
/// The member of that name, or SourceError naming `where`.
const Tree& at(const Tree& tree, std::string_view key, std::string_view where);

/// One YAML document, read as kubectl reads it; a duplicate key is a SourceError.
Tree read_yaml(const std::filesystem::path& file);

std::string to_yaml(const Tree& tree);

}  // namespace stackgate::crds::generator
