#include "services/guardrail/detect/jailbreak.hpp"

#include <array>

#include "services/guardrail/detect/perplexity.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t judged_words = 20, least_symbols = 40;

bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' '; }

/// The bytes up to the end of the 20th word, or nothing.
std::optional<std::size_t> first_words_end(std::string_view text) {
  std::size_t words = 0, i = 0;
  while (words < judged_words) {
    while (i < text.size() && is_blank(text[i])) ++i;
    if (i == text.size()) return std::nullopt;
    while (i < text.size() && !is_blank(text[i])) ++i;
    ++words;
  }
  return i;
}

/// Where the 20th word from the end begins, in a text that has so many.
std::size_t last_words_begin(std::string_view text) {
  std::size_t i = text.size();
  for (std::size_t words = 0; words < judged_words; ++words) {
    while (i > 0 && is_blank(text[i - 1])) --i;
    while (i > 0 && !is_blank(text[i - 1])) --i;
  }
  return i;
}

std::optional<double> perplexity_of(std::string_view part) {
  const Surprise found = surprise(part);
  return found.symbols < least_symbols ? std::nullopt : std::optional(found.perplexity);
}

}  // namespace

JailbreakScores jailbreak_scores(std::string_view text) {
  const Surprise whole = surprise(text);
  JailbreakScores out{.length_per_perplexity = static_cast<double>(whole.symbols) / whole.perplexity};
  if (const auto end = first_words_end(text)) {
    out.prefix_perplexity = perplexity_of(text.substr(0, *end));
    out.suffix_perplexity = perplexity_of(text.substr(last_words_begin(text)));
  }
  return out;
}

std::string_view to_string(JailbreakSign sign) {
  constexpr std::array<std::string_view, 3> sign_names{"length_per_perplexity", "prefix_perplexity",
                                                       "suffix_perplexity"};
  return sign_names[static_cast<std::size_t>(sign)];
}

std::optional<JailbreakSign> jailbreak_sign(const JailbreakScores& scores, const JailbreakThresholds& thresholds) {
  if (scores.length_per_perplexity >= thresholds.length_per_perplexity) return JailbreakSign::length_per_perplexity;
  if (scores.prefix_perplexity.value_or(0) >= thresholds.prefix_suffix_perplexity)
    return JailbreakSign::prefix_perplexity;
  if (scores.suffix_perplexity.value_or(0) >= thresholds.prefix_suffix_perplexity)
    return JailbreakSign::suffix_perplexity;
  return std::nullopt;
}

}  // namespace stackgate::guardrail
