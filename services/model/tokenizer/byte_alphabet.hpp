// The printable characters that byte-level models write bytes as: 33–126, 161–172 and 174–255 stand for themselves, the
// 68 others are U+0100, U+0101, … in the order of the byte.
// Source: bytes_to_unicode() of https://github.com/openai/gpt-2/blob/master/src/encoder.py
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "services/kit/base/utf8.hpp"
#include "services/model/tokenizer/unicode.hpp"

namespace stackgate::tokenizer {

struct ByteAlphabet {
  std::array<std::uint16_t, 256> character{};
  std::array<std::int16_t, 0x144> byte{};  // -1: no byte
};

constexpr ByteAlphabet make_byte_alphabet() {
  ByteAlphabet out;
  out.byte.fill(-1);
  std::uint16_t next = 0x100;
  for (std::uint16_t b = 0; b < 256; ++b) {
    const bool itself = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    const std::uint16_t character = itself ? b : next++;
    out.character[b] = character;
    out.byte[character] = static_cast<std::int16_t>(b);
  }
  return out;
}

inline constexpr ByteAlphabet byte_alphabet = make_byte_alphabet();

/// Appends the bytes that `text` (well-formed UTF-8) stands for. False, and nothing is appended, when a character is
/// not of the alphabet.
inline bool append_alphabet_bytes(std::string_view text, std::string& out) {
  const std::size_t before = out.size();
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const int byte = c.code < byte_alphabet.byte.size() ? byte_alphabet.byte[c.code] : -1;
    if (byte < 0) {
      out.resize(before);
      return false;
    }
    out += static_cast<char>(static_cast<unsigned char>(byte));
    at += c.length;
  }
  return true;
}

/// The other way: bytes as the vocabulary of a byte-level model writes them.
inline std::string alphabet_text(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    std::array<char, 4> encoded{};
    out.append(encoded.data(), utf8::encode(byte_alphabet.character[static_cast<unsigned char>(c)], encoded.data()));
  }
  return out;
}

}  // namespace stackgate::tokenizer
