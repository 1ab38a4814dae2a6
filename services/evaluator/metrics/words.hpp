// Texts cut into words and characters, as the metrics' definitions want them. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::evaluator {

using Words = std::vector<std::string>;

/// At white space, as Python's str.split() has it.
Words split_words(std::string_view text);
/// The 32 characters of string.punctuation.
constexpr bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}
/// SQuAD: lower case, no ASCII punctuation, no articles, split at white space.
Words squad_words(std::string_view text);
/// sacreBLEU's tokenizer "13a", that of mteval-v13a.
Words bleu_words(std::string_view text);
/// rouge_score without its stemmer: lower case, runs of a–z and 0–9.
Words rouge_words(std::string_view text);
/// chrF++'s: at white space, and an ASCII punctuation mark at the end, else at the beginning, is a word of its own.
Words chrf_words(std::string_view text);
/// Code points without white space, each as its bytes; a byte that is no UTF-8 is one.
std::vector<std::string_view> characters_of(std::string_view text);

}  // namespace stackgate::evaluator
