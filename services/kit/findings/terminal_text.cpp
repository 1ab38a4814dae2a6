#include "services/kit/findings/terminal_text.hpp"

#include <algorithm>
#include <cstdint>

#include <locale.h>
#include <wchar.h>

#include "services/kit/base/utf8.hpp"

namespace stackgate::validate {

namespace {

/// Of a well-formed sequence: 0, 1 or 2. By the C library's tables, whatever locale the environment names; terminals
/// disagree about some emoji.
std::size_t character_width(std::string_view sequence) {
  constexpr std::uint32_t first_of_others = 0x300;  // all before it take one column
  static const locale_t unicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const std::uint32_t code = utf8::character_at(sequence).code;
  if (code < first_of_others || unicode == nullptr) return 1;
  const locale_t before = ::uselocale(unicode);
  const int width = ::wcwidth(static_cast<wchar_t>(code));
  ::uselocale(before);
  return width < 0 ? 1 : static_cast<std::size_t>(width);
}

template <class Visit>
void for_each_character(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, utf8::sequence_length(text));
    visit(text.substr(0, length));
    text.remove_prefix(length);
  }
}

/// Left-to-right marks, embeddings, overrides and isolates: U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
bool turns_direction(std::string_view character) {
  if (character.size() != 3 || character[0] != '\xE2') return false;
  const auto second = static_cast<unsigned char>(character[1]), third = static_cast<unsigned char>(character[2]);
  return (second == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xAA && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9);
}

}  // namespace

std::size_t terminal_width(std::string_view text) {
  std::size_t width = 0;
  for_each_character(text, [&](std::string_view each) { width += character_width(each); });
  return width;
}

std::string blank_of(std::string_view text) {
  std::string out;
  for_each_character(text, [&](std::string_view each) {
    if (each == "\t")
      out += '\t';
    else
      out.append(character_width(each), ' ');
  });
  return out;
}

std::string visible_text(std::string_view text, std::size_t count) {
  std::string out;
  std::size_t character = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(1, utf8::sequence_length(text.substr(at)));
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

}  // namespace stackgate::validate
