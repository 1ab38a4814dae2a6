#include "services/stackgate/validate/visible_text.hpp"

#include <algorithm>

#include "services/kit/json/utf8.hpp"
#include "services/kit/json/value.hpp"
#include "validators/rules/quoting.hpp"

namespace stackgate {

namespace {

/// Left-to-right marks, embeddings, overrides and isolates: U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
bool turns_direction(std::string_view character) {
  if (character.size() != 3 || character[0] != '\xE2') return false;
  const auto second = static_cast<unsigned char>(character[1]), third = static_cast<unsigned char>(character[2]);
  return (second == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xAA && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9);
}

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return out;
}

}  // namespace

std::string visible_text(std::string_view text, std::size_t count) {
  std::string out;
  std::size_t character = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(1, json::utf8::sequence_length(text.substr(at)));
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool is_c1_control = length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0;
    const bool is_broken = length == 1 && byte >= 0x80;
    const bool is_control = (byte < 0x20 && byte != '\t') || byte == 0x7F || is_c1_control;
    if ((byte & 0xC0U) != 0x80U) {
      if (character++ == count) break;
      if (is_broken || is_control || turns_direction(text.substr(at, length)))
        out += '?';
      else
        out += text.substr(at, length);
    }
    at += length;
  }
  return out;
}

bool may_hold_secret(const Entry& entry, std::string_view shown) {
  const std::string_view path = entry.finding.path;
  const json::Value probe = json::Value::make_string("x", 0);
  if (validate::quoted_value(path, &probe).empty()) return true;
  // User information, and a variable that stands where its name or the list of all belongs.
  for (std::size_t at = 0; (at = shown.find('@', at)) != std::string_view::npos; ++at)
    if (!shown.substr(at).starts_with("@sha256:")) return true;
  if (path.find("env") != std::string_view::npos && shown.find('=') != std::string_view::npos) return true;
  // A neighbour, whose line is shown because something is missing beside it, or which shares it, in flow style or JSON;
  // and what could not be read has no path that could tell.
  const std::string_view key = path.substr(path.find_last_of(".[") + 1);
  const bool is_own_line = !key.empty() && shown.find(key) != std::string_view::npos;
  if (is_own_line && shown.find('{') == std::string_view::npos) return false;
  if (shown.find('=') != std::string_view::npos) return true;
  const std::string words = in_lower_case(shown);
  return std::ranges::any_of(std::initializer_list<std::string_view>{"value", "password", "passwd", "token", "secret",
                                                                     "apikey", "private", "credential"},
                             [&](std::string_view word) { return words.find(word) != std::string::npos; });
}

}  // namespace stackgate
