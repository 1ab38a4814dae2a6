// How much a text surprises a small model of language: three symbols in a row (text_symbols.hpp), learned from public
// English prose, a few pages in other languages, and code. Not comparable with a large model's perplexity. Pure.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "services/guardrail/detect/text_symbols.hpp"

namespace stackgate::guardrail {

struct Surprise {
  double perplexity = 1;    // two to the bits that a symbol costs on average: 9 for prose, 30 and more for noise
  std::size_t symbols = 0;  // that were judged: about as many as characters
};
/// What stands beside a character beyond ASCII is not judged: of other scripts the model knows nothing.
Surprise surprise(std::string_view text);

/// Quarters of bits, in base64's URL alphabet: of symbols a, b and c at [a][b * symbol_count + c].
extern const std::array<std::string_view, symbol_count> perplexity_table;

}  // namespace stackgate::guardrail
