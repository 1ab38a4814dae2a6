// What parser and writer share of the grammar of RFC 9110.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "services/kit/base/ascii.hpp"

namespace stackgate::http {

using ascii::equal_ignoring_case;
using ascii::to_lower;

/// Optional white space (RFC 9110, 5.6.3) off both ends.
constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

enum class Char : std::uint8_t { token = 1, field = 2, target = 4 };

/// What a byte may stand in: a token (RFC 9110, 5.6.2), a field value (5.5), a request target (visible ASCII, no '#').
inline constexpr std::array<std::uint8_t, 256> char_classes = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < 256; ++c) {
    std::uint8_t bits = 0;
    const char byte = static_cast<char>(c);
    if (ascii::is_alphanumeric(byte) || std::string_view("!#$%&'*+-.^_`|~").contains(byte)) bits |= 1;
    if (c == '\t' || (c >= ' ' && c != 0x7f)) bits |= 2;
    if (c > ' ' && c < 0x7f && c != '#') bits |= 4;
    table[c] = bits;
  }
  return table;
}();

constexpr bool is(Char kind, char c) {
  return (char_classes[static_cast<unsigned char>(c)] & static_cast<std::uint8_t>(kind)) != 0;
}

constexpr bool all(Char kind, std::string_view text) {
  for (const char c : text) {
    if (!is(kind, c)) return false;
  }
  return true;
}

}  // namespace stackgate::http
