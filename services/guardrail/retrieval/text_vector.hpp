// A text as a vector: its words and their three-letter parts, hashed. What shares words and stems lies near; what only
// means the same does not, for which an embedding model is needed. Pure, the same on every machine.
#pragma once
#include <array>
#include <string_view>

namespace stackgate::guardrail {

inline constexpr std::size_t text_vector_size = 384;
inline constexpr std::size_t text_vector_bytes = 16U << 10U;  // of a text; the rest is not looked at
using TextVector = std::array<float, text_vector_size>;

/// Of length 1; all zero for a text without a letter or digit. Case (of ASCII), punctuation and order of words do not
/// matter.
TextVector text_vector(std::string_view text);

}  // namespace stackgate::guardrail
