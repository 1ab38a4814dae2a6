#include "services/datastore/pages/html.hpp"

#include <cstdint>

#include "services/kit/web/errors.hpp"

namespace stackgate::datastore::pages {
namespace html_detail {

void add_byte(std::string& out, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\x";
  out += digits[byte >> 4U];
  out += digits[byte & 15U];
}

/// The length of the character that begins here; 0 when none does (RFC 3629: no surrogates, no overlong forms).
std::size_t character_at(std::string_view text, std::uint32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  std::size_t length = 0;
  if (first < 0x80) {
    code = first;
    return 1;
  }
  if (first >= 0xc2 && first <= 0xdf) length = 2;
  if (first >= 0xe0 && first <= 0xef) length = 3;
  if (first >= 0xf0 && first <= 0xf4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  code = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  if (length == 3 && (code < 0x800 || (code >= 0xd800 && code <= 0xdfff))) return 0;
  if (length == 4 && (code < 0x10000 || code > 0x10ffff)) return 0;
  return length;
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
    std::uint32_t code = 0;
    const std::size_t length = html_detail::character_at(text, code);
    if (length == 0 || html_detail::is_hidden(code)) {
      const std::size_t count = length == 0 ? 1 : length;
      for (const char c : text.substr(0, count)) html_detail::add_byte(out, static_cast<unsigned char>(c));
      text.remove_prefix(count);
      continue;
    }
    out += web::escape_html(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace stackgate::datastore::pages
