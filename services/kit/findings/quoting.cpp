#include "services/kit/findings/quoting.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "services/kit/grammar/characters.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::validate {
namespace {

constexpr std::size_t longest_quote = 80;

std::string_view last_key_of(std::string_view path) {
  std::size_t begin = path.size();
  while (begin > 0 && path[begin - 1] != '.' && path[begin - 1] != '[') --begin;
  std::string_view key = path.substr(begin);
  if (key.ends_with(']')) key.remove_suffix(1);
  return key;
}

bool speaks_of_secrets(std::string_view text) {
  constexpr std::size_t shortest = 5;
  if (text.size() < shortest) return false;
  const std::string lower = grammar::to_lower(text);
  return std::ranges::any_of(std::array{"password", "passwd", "token", "secret", "apikey", "private", "credential"},
                             [&](const char* word) { return lower.find(word) != std::string::npos; });
}

/// In metadata.annotations, podAnnotations and what else is named so.
bool is_in_annotations(std::string_view path) {
  constexpr std::string_view name = "nnotations";
  for (std::size_t at = 0; (at = path.find(name, at)) != std::string_view::npos;) {
    at += name.size();
    if (at == path.size() ? path.starts_with("metadata.a") : path[at] == '.' || path[at] == '[') return true;
  }
  return false;
}

bool path_may_hold_secret(std::string_view path) {
  const std::string_view key = last_key_of(path);
  // Environment variables (env, networkConfig: {name, value}) and the pipeline's envValue.
  if (key == "value" || key == "envValue") return true;
  // Names of Secrets and of keys inside them are no secrets, though they say "password".
  if (key != "apiKey" && key != "privateKey" && key != "secretKey")
    for (const std::string_view suffix : {"Key", "Secret", "Name", "name"})
      if (key.ends_with(suffix)) return false;
  if (speaks_of_secrets(key)) return !key.starts_with("automount");
  return is_in_annotations(path);
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

bool source_may_hold_secret(std::string_view path, std::string_view source) {
  const bool has_equals = source.find('=') != std::string_view::npos;
  if (path_may_hold_secret(path) || may_hold_user_info(source)) return true;
  if (has_equals && path_holds_variables(path)) return true;
  // A neighbour, whose line is shown because something is missing beside it, or which shares it, in flow style or JSON;
  // and what could not be read has no path that could tell.
  const std::string_view key = last_key_of(path);
  const bool is_own_line = !key.empty() && source.find(key) != std::string_view::npos;
  if (is_own_line && source.find('{') == std::string_view::npos) return false;
  const bool holds_value = grammar::to_lower(source).find("value") != std::string::npos;  // of a variable
  return has_equals || holds_value || speaks_of_secrets(source);
}

}  // namespace stackgate::validate
