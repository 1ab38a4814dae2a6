#include "services/guardrail/models/keys.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stackgate::guardrail {
namespace {

constexpr std::string_view own_settings = "STACKGATE_";
constexpr std::size_t longest_key = 16'384;

std::string trimmed(std::string text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.pop_back();
  text.erase(0, std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

bool fits_a_header(const std::string& key) {
  return key.size() <= longest_key && std::ranges::all_of(key, [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

std::expected<std::string, std::string> key_of(const ModelEndpoint& endpoint, const ModelClientOptions& options) {
  std::optional<std::string> key;
  std::string where;
  if (!endpoint.api_key_file.empty()) {
    where = fmt::format("the file {}", endpoint.api_key_file);
    if (options.file) key = options.file(endpoint.api_key_file);
  } else if (!endpoint.api_key_env.empty()) {
    where = fmt::format("the variable {}", endpoint.api_key_env);
    if (endpoint.api_key_env.starts_with(own_settings))
      return std::unexpected(fmt::format("{} is a setting of this server; name another one in api_key_env_var", where));
    if (options.variable) key = options.variable(endpoint.api_key_env);
  } else {
    return std::string();
  }
  if (key) key = trimmed(std::move(*key));
  if (!key || key->empty()) return std::unexpected(fmt::format("{} has no key for the model's endpoint", where));
  if (!fits_a_header(*key)) return std::unexpected(fmt::format("{} holds what cannot be a key", where));
  return std::move(*key);
}

}  // namespace stackgate::guardrail
