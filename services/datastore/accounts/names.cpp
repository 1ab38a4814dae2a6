#include "services/datastore/accounts/names.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "services/datastore/accounts/accounts.hpp"

namespace stackgate::datastore {
namespace {

constexpr std::array<std::string_view, 32> reserved_accounts = {
    "-",           "api",    "assets",   "avatars", "css",    "datasets", "debug",  "explore",
    "favicon.ico", "health", "healthz",  "help",    "img",    "js",       "login",  "logout",
    "metrics",     "models", "new",      "org",     "raw",    "ready",    "repo",   "repos",
    "robots.txt",  "search", "settings", "spaces",  "static", "swagger",  "upload", "v1"};

bool is_word_character(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string containing(std::string_view text) {
  std::string out = "%";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '!') out += '!';
    out += c;
  }
  return out + "%";
}

bool is_reserved_account_name(std::string_view lower) {
  return std::ranges::find(reserved_accounts, lower) != reserved_accounts.end();
}

std::optional<std::string> fault_of_account_name(std::string_view name) {
  if (name.empty()) return "the name is empty; write 1 to 40 letters, digits, '-', '_' or '.'";
  if (name.size() > 40) return "the name has more than 40 characters";
  for (const char c : name)
    if (!is_word_character(c) && c != '-' && c != '_' && c != '.')
      return "the name may hold only letters, digits, '-', '_' and '.'";
  if (!is_word_character(name.front()) || !is_word_character(name.back()))
    return "the name must begin and end with a letter or a digit";
  if (name.contains("..")) return "the name must not hold '..'";
  const std::string lower = lower_case(name);
  if (lower.ends_with(".git")) return "the name must not end in '.git'";
  if (is_reserved_account_name(lower)) return "the name '" + lower + "' is reserved; choose another";
  return std::nullopt;
}

}  // namespace stackgate::datastore
