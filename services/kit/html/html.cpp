#include "services/kit/html/html.hpp"

#include <algorithm>
#include <cstdint>

#include "services/kit/base/escape_html.hpp"
#include "services/kit/base/utf8.hpp"

namespace stackgate::html {
namespace html_detail {

void add_byte(std::string& out, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\x";
  out += digits[byte >> 4U];
  out += digits[byte & 15U];
}

/// The character that is the whole of `bytes`, which are well-formed.
std::uint32_t decode(std::string_view bytes) {
  auto code = static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[0]));
  if (bytes.size() > 1) code &= 0xffU >> (bytes.size() + 1);
  for (const char c : bytes.substr(1)) code = code << 6U | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

/// Control characters, and those that let a name pretend: marks of direction, invisible ones, separators of lines.
bool is_hidden(std::uint32_t code) {
  if (code == '\n' || code == '\t') return false;
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

}  // namespace html_detail

std::string visible(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  while (!text.empty()) {
    const std::size_t length = utf8::sequence_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    text.remove_prefix(character.size());
    if (length != 0 && !html_detail::is_hidden(html_detail::decode(character)))
      out += escape_html(character);
    else
      for (const char c : character) html_detail::add_byte(out, static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace stackgate::html
