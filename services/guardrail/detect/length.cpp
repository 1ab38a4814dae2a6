#include "services/guardrail/detect/length.hpp"

namespace stackgate::guardrail {

std::optional<LengthExcess> length_excess(std::string_view text, const LengthLimits& limits) {
  const auto beyond = [](std::size_t count, const std::optional<std::size_t>& limit) {
    return limit && count > *limit;
  };
  if (beyond(text.size(), limits.bytes)) return LengthExcess{"bytes", text.size(), *limits.bytes};
  std::size_t characters = 0, words = 0, lines = 0;
  bool in_word = false, in_line = false;
  for (const char c : text) {
    const bool blank = static_cast<unsigned char>(c) <= ' ';
    characters += (c & '\xC0') != '\x80' ? 1 : 0;
    words += !blank && !in_word ? 1 : 0;
    lines += in_line ? 0 : 1;
    in_word = !blank;
    in_line = c != '\n';
  }
  if (beyond(characters, limits.characters)) return LengthExcess{"characters", characters, *limits.characters};
  if (beyond(words, limits.words)) return LengthExcess{"words", words, *limits.words};
  if (beyond(lines, limits.lines)) return LengthExcess{"lines", lines, *limits.lines};
  return std::nullopt;
}

}  // namespace stackgate::guardrail
