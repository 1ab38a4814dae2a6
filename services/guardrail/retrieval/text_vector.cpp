#include "services/guardrail/retrieval/text_vector.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/fnv.hpp"

namespace stackgate::guardrail {
namespace {

// Weights: a word as a whole, one of its parts, and a word that says little.
constexpr float whole_word = 1.0F, part_of_word = 0.45F, little_word = 0.15F;
constexpr std::string_view little[] = {
    "a",   "about", "am",   "an",  "and",  "are", "as",  "at", "be",   "can",  "could", "do",  "does", "for",
    "has", "have",  "how",  "i",   "in",   "is",  "it",  "me", "my",   "of",   "on",    "or",  "our",  "please",
    "so",  "some",  "that", "the", "this", "to",  "was", "we", "will", "with", "would", "you", "your"};
static_assert(std::ranges::is_sorted(little));

bool is_word_byte_of_vector(char c) { return ascii::is_alphanumeric(c) || static_cast<signed char>(c) < 0; }

/// Each feature adds to two places with its own signs: what two texts do not share cancels out on average.
void add(TextVector& out, std::uint64_t hash, float weight) {
  for (int i = 0; i < 2; ++i) {
    hash = (hash ^ hash >> 29U) * 0xBF58476D1CE4E5B9U;
    out[(hash >> 33U) % text_vector_size] += (hash & 1U) != 0 ? weight : -weight;
  }
}

/// `padded`: "^word$".
void add_word(TextVector& out, std::string_view padded) {
  const std::string_view word = padded.substr(1, padded.size() - 2);
  const bool is_frequent = std::ranges::binary_search(little, word);
  add(out, fnv1a(word), is_frequent ? little_word : whole_word);
  if (is_frequent || word.size() < 3) return;
  for (std::size_t i = 0; i + 3 <= padded.size(); ++i) add(out, fnv1a(padded.substr(i, 3), 1), part_of_word);
}

}  // namespace

TextVector text_vector(std::string_view text) {
  TextVector out{};
  text = text.substr(0, text_vector_bytes);
  std::string word;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word_byte_of_vector(text[i])) {
      ++i;
      continue;
    }
    word = "^";
    while (i < text.size() && is_word_byte_of_vector(text[i])) word += ascii::to_lower(text[i++]);
    word += '$';
    add_word(out, word);
  }
  float square = 0;
  for (const float value : out) square += value * value;
  if (square > 0)
    for (float& value : out) value /= std::sqrt(square);
  return out;
}

}  // namespace stackgate::guardrail
