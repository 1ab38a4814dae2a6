#include "validators/rules/quoting.hpp"

#include <string>

#include "services/kit/json/write.hpp"

namespace stackgate::validate {
namespace {

constexpr std::size_t longest_quote = 80;

std::string_view last_key_of(std::string_view path) {
  const std::size_t at = path.find_last_of(".[");
  std::string_view key = at == std::string_view::npos ? path : path.substr(at + 1);
  if (key.ends_with(']')) key.remove_suffix(1);
  return key;
}

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool path_may_hold_secret(std::string_view path) {
  const std::string_view key = last_key_of(path);
  // Environment variables (env, networkConfig: {name, value}) and the pipeline's envValue.
  if (key == "value" || key == "envValue") return true;
  // Names of Secrets and of keys inside them are no secrets, though they say "password".
  if (key != "apiKey" && key != "privateKey" && key != "secretKey")
    for (const std::string_view suffix : {"Key", "Secret", "Name", "name"})
      if (key.ends_with(suffix)) return false;
  const std::string lower = in_lower_case(key);
  for (const std::string_view word : {"password", "passwd", "token", "secret", "apikey", "private", "credential"})
    if (lower.find(word) != std::string::npos) return !key.starts_with("automount");
  return path.starts_with("metadata.annotations") || path.find("nnotations[") != std::string_view::npos ||
         path.find("nnotations.") != std::string_view::npos;
}

// Lists of variables: env, evalFactoryEnv, networkConfig and what is still to come by such a name.
bool path_holds_variables(std::string_view path) {
  return path.find("env") != std::string_view::npos || path.find("Env") != std::string_view::npos ||
         path.find("networkConfig") != std::string_view::npos;
}

// "user:password@host": what stands before an '@' is not shown, unless all that stands behind it is an image's digest.
bool may_hold_user_info(std::string_view text) {
  const std::size_t sign = text.find('@');
  if (sign == std::string_view::npos) return false;
  const std::string_view behind = text.substr(sign + 1);
  return behind.find_first_of("@/") != std::string_view::npos ||
         (!behind.starts_with("sha256:") && !behind.starts_with("sha384:") && !behind.starts_with("sha512:"));
}

}  // namespace

std::string quoted_value(std::string_view path, const json::Value* value) {
  if (value == nullptr || value->is_null()) return {};
  if (value->is_object()) return value->members().empty() ? "{}" : "";
  if (value->is_array()) return value->items().empty() ? "[]" : "";
  if (path_may_hold_secret(path)) return {};
  const std::string_view text = value->string();
  if (may_hold_user_info(text)) return {};
  if (text.find('=') != std::string_view::npos && path_holds_variables(path)) return {};  // NAME=value
  std::string out;
  if (text.size() <= longest_quote) {
    out = json::to_json(*value);
    return out;
  }
  std::size_t end = longest_quote - 4;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a UTF-8 sequence
  json::append_quoted(out, text.substr(0, end));
  out.insert(out.size() - 1, "…");
  return out;
}

}  // namespace stackgate::validate
