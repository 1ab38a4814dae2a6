#include "services/kit/base/percent.hpp"

#include <array>

#include "services/kit/base/ascii.hpp"

namespace stackgate {
namespace percent_detail {

constexpr std::array<bool, 256> unreserved = [] {
  std::array<bool, 256> table{};
  for (unsigned code = 0; code < table.size(); ++code) {
    const char c = static_cast<char>(code);
    table[code] = ascii::is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~';
  }
  return table;
}();

}  // namespace percent_detail

void append_percent_encoded(std::string& out, std::string_view text, std::string_view keep) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (percent_detail::unreserved[byte] || keep.contains(c))
      out += c;
    else
      out += {'%', digits[byte >> 4U], digits[byte & 15U]};
  }
}

std::string percent_encode(std::string_view text, std::string_view keep) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  append_percent_encoded(out, text, keep);
  return out;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int byte = percent_decoded_byte(text, i);
    if (byte < 0) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

int percent_decoded_byte(std::string_view text, std::size_t at) {
  if (at + 2 >= text.size()) return -1;
  const int high = ascii::hex_value(text[at + 1]), low = ascii::hex_value(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace stackgate
