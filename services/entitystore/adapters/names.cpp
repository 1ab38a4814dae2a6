#include "services/entitystore/adapters/names.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"

namespace stackgate::entitystore {
namespace names_detail {

std::optional<std::string> fault(std::string_view name, std::size_t longest) {
  if (name.empty()) return "must not be empty";
  if (name.size() > longest) return fmt::format("has {} characters; the most is {}", name.size(), longest);
  const bool good =
      std::ranges::all_of(name, [](char c) { return ascii::is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
  if (!good) return "may hold only letters, digits, '-', '_' and '.'";
  if (!ascii::is_alphanumeric(name.front()) || !ascii::is_alphanumeric(name.back()))
    return "must begin and end with a letter or digit";
  if (name.contains("..")) return "must not hold \"..\"";
  const std::string lower = ascii::to_lower(name);
  for (const std::string_view ending : {".git", ".lock", ".wiki"})
    if (lower.ends_with(ending)) return fmt::format("must not end in \"{}\", which Git uses", ending);
  return std::nullopt;
}

}  // namespace names_detail

std::optional<std::string> fault_of_name(std::string_view name) { return names_detail::fault(name, 64); }

std::optional<std::string> fault_of_namespace(std::string_view name) {
  if (auto wrong = names_detail::fault(name, 32)) return wrong;
  if (name.contains("--")) return "must not hold \"--\"";
  return std::nullopt;
}

std::string repository_of(std::string_view owner, std::string_view name_space, std::string_view name) {
  return fmt::format("{}/{}--{}", owner, name_space, name);
}

std::string tag_of(std::string_view version) { return fmt::format("v{}", version); }

}  // namespace stackgate::entitystore
