#include "services/stackgate/validate/visible_text.hpp"

#include <algorithm>

#include "services/kit/json/utf8.hpp"

namespace stackgate {

namespace {

/// Left-to-right marks, embeddings, overrides and isolates: U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
bool turns_direction(std::string_view character) {
  if (character.size() != 3 || character[0] != '\xE2') return false;
  const auto second = static_cast<unsigned char>(character[1]), third = static_cast<unsigned char>(character[2]);
  return (second == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xAA && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9);
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

}  // namespace stackgate
