// A text as a row of 62 symbols, for the model of perplexity.hpp: letters without their case but with a mark where
// capitals begin, digits as one, each sign of ASCII, blanks as one. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "services/kit/base/ascii.hpp"

namespace stackgate::guardrail {

inline constexpr std::size_t symbol_count = 62;
using Symbol = std::uint8_t;
inline constexpr Symbol blank_symbol = 0, first_letter = 1, capital_mark = 27, digit_symbol = 28, first_sign = 29,
                        foreign_symbol = 61;

/// Of a printable character of ASCII that is no letter, digit or blank.
constexpr Symbol symbol_of_sign(char c) {
  constexpr std::string_view signs = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  const std::size_t at = signs.find(c);
  return at == signs.npos ? foreign_symbol : static_cast<Symbol>(first_sign + at);
}

/// Calls `take` with each symbol. Typographic quotes and dashes are those of ASCII; any other character beyond ASCII is
/// one symbol, and bytes that are no UTF-8 are as well.
template <class Take>
void for_each_symbol(std::string_view text, const Take& take) {
  bool blank = false, capital = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ') {
      blank = true;
      continue;
    }
    if ((byte & 0xC0U) == 0x80) continue;  // of a character that has begun
    if (blank) {
      take(blank_symbol);
      capital = false;
    }
    blank = false;
    if (ascii::is_upper(c) && !capital) take(capital_mark);
    capital = ascii::is_upper(c);
    if (ascii::is_letter(c)) {
      take(static_cast<Symbol>(first_letter + (ascii::to_lower(c) - 'a')));
    } else if (ascii::is_digit(c)) {
      take(digit_symbol);
    } else if (byte < 0x80) {
      take(symbol_of_sign(c));
    } else if (byte == 0xE2 && i + 2 < text.size() && text[i + 1] == '\x80') {  // general punctuation
      const auto last = static_cast<unsigned char>(text[i + 2]);
      take(last == 0x98 || last == 0x99   ? symbol_of_sign('\'')
           : last == 0x9C || last == 0x9D ? symbol_of_sign('"')
           : last >= 0x90 && last <= 0x95 ? symbol_of_sign('-')
           : last == 0xA6                 ? symbol_of_sign('.')
                                          : foreign_symbol);
    } else {
      take(foreign_symbol);
    }
  }
}

}  // namespace stackgate::guardrail
