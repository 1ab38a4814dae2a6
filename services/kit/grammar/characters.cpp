#include "services/kit/grammar/characters.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/utf8.hpp"

namespace stackgate::validate::grammar {

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string name_character(std::string_view text, std::size_t at) {
  if (at >= text.size()) return "the end";
  const char c = text[at];
  const auto code = static_cast<unsigned char>(c);
  if (c == ' ') return "a space";
  if (c == '\t') return "a tab";
  if (c == '\n' || c == '\r') return "a line break";
  if (code < 0x20 || code == 0x7F) return fmt::format("control character 0x{:02x}", code);
  const std::size_t length = utf8::sequence_length(text.substr(at));
  // U+0080 … U+009F are control characters too.
  if (length == 0 || (length == 2 && code == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0))
    return fmt::format("byte 0x{:02x}", code);
  return concat({"'", text.substr(at, length), "'"});
}

std::string place_character(std::string_view text, std::size_t at) {
  return concat(
      {name_character(text, at), " (character ", std::to_string(count_characters(text.substr(0, at)) + 1), ")"});
}

std::string quote_short(std::string_view text) {
  const auto printable = [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; };
  if (text.empty() || text.size() > 80 || !std::ranges::all_of(text, printable)) return {};
  return concat({"\"", text, "\""});
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count)
    at += std::max<std::size_t>(1, utf8::sequence_length(text.substr(at)));
  return count;
}

}  // namespace stackgate::validate::grammar
