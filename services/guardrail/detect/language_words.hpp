// Common words of each language that is told apart by them.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace stackgate::guardrail {

struct LanguageWords {
  std::string_view code;   // ISO 639-1
  std::string_view words;  // lower case, with blanks between them
};
inline constexpr std::size_t language_word_lists = 11;
std::span<const LanguageWords, language_word_lists> language_words();

}  // namespace stackgate::guardrail
