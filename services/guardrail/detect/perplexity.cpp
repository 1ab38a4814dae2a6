#include "services/guardrail/detect/perplexity.hpp"

#include <array>
#include <cmath>

#include "services/guardrail/detect/text_symbols.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::array<std::uint8_t, 256> costs = [] {
  std::array<std::uint8_t, 256> out{};
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    out[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return out;
}();

}  // namespace

Surprise surprise(std::string_view text) {
  std::size_t a = blank_symbol, b = blank_symbol;
  std::uint64_t quarters = 0;
  Surprise out;
  for_each_symbol(text, [&](Symbol c) {
    if (a != foreign_symbol && b != foreign_symbol && c != foreign_symbol) {
      quarters += costs[static_cast<unsigned char>(perplexity_table[a][b * symbol_count + c])];
      ++out.symbols;
    }
    a = b;
    b = c;
  });
  if (out.symbols > 0) out.perplexity = std::exp2(static_cast<double>(quarters) / 4 / static_cast<double>(out.symbols));
  return out;
}

}  // namespace stackgate::guardrail
