// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stackgate::utf8 {

/// The length of the well-formed sequence at the beginning of `text`, or 0. One ASCII byte is a sequence.
inline std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (text.empty()) return 0;
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return follows(1) ? 2 : 0;
  if (lead < 0xF0) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    return byte(1) >= low && byte(1) <= high && follows(2) ? 3 : 0;
  }
  if (lead > 0xF4) return 0;
  const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
  return byte(1) >= low && byte(1) <= high && follows(2) && follows(3) ? 4 : 0;
}

/// Whether all of it is well-formed.
inline bool is_valid(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

struct Character {
  std::uint32_t code = 0;
  std::uint32_t length = 1;  // bytes
};

/// The character that begins at `at`, which is below the size. The text must be well-formed there.
inline Character character_at(std::string_view text, std::size_t at = 0) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1FU) << 6U | (byte(1) & 0x3FU), 2};
  if (lead < 0xF0) return {(lead & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU), 3};
  return {(lead & 0x07U) << 18U | (byte(1) & 0x3FU) << 12U | (byte(2) & 0x3FU) << 6U | (byte(3) & 0x3FU), 4};
}

/// Writes `code` (a Unicode scalar value) to `out`, at most four bytes; returns how many.
inline std::size_t encode(std::uint32_t code, char* out) {
  const auto put = [](std::uint32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
  if (code < 0x80) {
    out[0] = put(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = put(0xC0U | code >> 6U);
    out[1] = put(0x80U | (code & 0x3FU));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = put(0xE0U | code >> 12U);
    out[1] = put(0x80U | (code >> 6U & 0x3FU));
    out[2] = put(0x80U | (code & 0x3FU));
    return 3;
  }
  out[0] = put(0xF0U | code >> 18U);
  out[1] = put(0x80U | (code >> 12U & 0x3FU));
  out[2] = put(0x80U | (code >> 6U & 0x3FU));
  out[3] = put(0x80U | (code & 0x3FU));
  return 4;
}

}  // namespace stackgate::utf8
