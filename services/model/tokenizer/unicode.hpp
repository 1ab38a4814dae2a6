// The properties and decompositions of Unicode that tokenizers need; utf8proc (Unicode 14) behind one file.
// All texts given to these functions are well-formed UTF-8.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "services/kit/base/utf8.hpp"

namespace stackgate::tokenizer {

using utf8::Character;
using utf8::character_at;

/// The character that ends before `at`, which is above 0.
inline Character character_before(std::string_view text, std::size_t at) {
  std::size_t begin = at - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
  return character_at(text, begin);
}

/// The property White_Space.
bool is_white_space(std::uint32_t code);

/// What `\w` means in patterns: letters, marks, decimal digits, letter numbers, connectors such as '_'.
bool is_word(std::uint32_t code);

/// The simple lower case of one character, as code points: one, or two for U+0130.
void append_lower(std::uint32_t code, std::vector<std::int32_t>& out);

/// The whole decomposition of one character: canonical, or with `compatibility` that of NFKC and NFKD.
void append_decomposed(std::uint32_t code, bool compatibility, std::vector<std::int32_t>& out);

/// Whether no composition and no reordering reaches from this (decomposed) character back to the one before it.
bool begins_segment(std::int32_t code);

/// Puts marks into canonical order, in O(n log n).
void order_marks(std::vector<std::int32_t>& codes);

/// Composes what order_marks() has ordered.
void compose(std::vector<std::int32_t>& codes);

}  // namespace stackgate::tokenizer
