#include "services/datastore/accounts/names.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "services/datastore/accounts/accounts.hpp"
#include "services/kit/base/ascii.hpp"

namespace stackgate::datastore {
namespace {

// First segments of paths that are no account: /v1, /api, /datasets below /v1/hf …
constexpr std::array<std::string_view, 32> reserved_accounts = {
    "-",           "api",    "assets",   "avatars", "css",    "datasets", "debug",  "explore",
    "favicon.ico", "health", "healthz",  "help",    "img",    "js",       "login",  "logout",
    "metrics",     "models", "new",      "org",     "raw",    "ready",    "repo",   "repos",
    "robots.txt",  "search", "settings", "spaces",  "static", "swagger",  "upload", "v1"};

}  // namespace

std::string containing(std::string_view text) {
  std::string out = "%";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '!') out += '!';
    out += c;
  }
  return out + "%";
}

std::optional<std::string> fault_of_account_name(std::string_view name) {
  if (name.empty()) return "the name is empty; write 1 to 40 letters, digits, '-', '_' or '.'";
  if (name.size() > 40) return "the name has more than 40 characters";
  for (const char c : name)
    if (!ascii::is_alphanumeric(c) && c != '-' && c != '_' && c != '.')
      return "the name may hold only letters, digits, '-', '_' and '.'";
  if (!ascii::is_alphanumeric(name.front()) || !ascii::is_alphanumeric(name.back()))
    return "the name must begin and end with a letter or a digit";
  if (name.contains("..")) return "the name must not hold '..'";
  const std::string lower = ascii::to_lower(name);
  if (lower.ends_with(".git")) return "the name must not end in '.git'";
  if (std::ranges::find(reserved_accounts, lower) != reserved_accounts.end())
    return "the name '" + lower + "' is reserved; choose another";
  return std::nullopt;
}

}  // namespace stackgate::datastore
