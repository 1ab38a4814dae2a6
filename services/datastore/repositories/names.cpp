#include "services/datastore/accounts/names.hpp"

#include <algorithm>
#include <array>

#include "services/datastore/repositories/repositories.hpp"
#include "services/kit/base/ascii.hpp"

namespace stackgate::datastore {
namespace {

// Second segments of paths that are no repository.
constexpr std::array<std::string_view, 8> reserved_repositories = {"-",      "api",        "resolve", "settings",
                                                                   "search", "namespaces", "info",    "v1"};

bool is_repository_character(char c) { return ascii::is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

}  // namespace

std::optional<std::string> fault_of_repository_name(std::string_view name) {
  if (name.empty()) return "the name is empty; write 1 to 100 letters, digits, '-', '_' or '.'";
  if (name.size() > 100) return "the name has more than 100 characters";
  if (!std::ranges::all_of(name, is_repository_character))
    return "the name may hold only letters, digits, '-', '_' and '.'";
  if (name == "." || name == "..") return "the name must not be '.' or '..'";
  if (name.starts_with('-') || name.starts_with('.')) return "the name must not begin with '-' or '.'";
  if (name.contains("..") || name.ends_with('.')) return "the name must not hold '..' or end with '.'";
  const std::string lower = ascii::to_lower(name);
  for (const std::string_view ending : {".git", ".lock", ".wiki"})
    if (lower.ends_with(ending)) return "the name must not end in '" + std::string(ending) + "'";
  if (std::ranges::find(reserved_repositories, lower) != reserved_repositories.end())
    return "the name '" + lower + "' is reserved; choose another";
  return std::nullopt;
}

}  // namespace stackgate::datastore
