#include "services/kit/grammar/characters.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"

namespace stackgate::validate::grammar {
namespace {

// Length of the well-formed UTF-8 sequence at `at`, 0 for none (RFC 3629: no overlong forms, no surrogates).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : static_cast<unsigned char>(0);
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;
    if (lead == 0xED && byte(1) > 0x9F) return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;
    if (lead == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

}  // namespace

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

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
  const std::size_t length = sequence_length(text, at);
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
  for (std::size_t at = 0; at < text.size(); ++count) at += std::max<std::size_t>(1, sequence_length(text, at));
  return count;
}

}  // namespace stackgate::validate::grammar
