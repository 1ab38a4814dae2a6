// Which language a text is in: by its script, and for Latin and Cyrillic letters by common words. A handful of
// languages; a text of one sentence or more. Pure.
#pragma once
#include <span>
#include <string_view>

namespace stackgate::guardrail {

struct Language {
  std::string_view code{};  // ISO 639-1; empty: not known
  double confidence = 0;    // 0 to 1
};

/// ar, de, el, en, es, fr, he, hi, it, ja, ko, nl, pl, pt, ru, sv, th, uk, zh
std::span<const std::string_view> served_languages();

/// Of the first 16 KB. Not known: fewer than two common words of any of the languages, or no letters. What is written
/// in another language of the same script may be taken for one of these.
Language language_of(std::string_view text);

}  // namespace stackgate::guardrail
