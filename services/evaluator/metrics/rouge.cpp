#include "services/evaluator/metrics/rouge.hpp"

#include <algorithm>
#include <vector>

#include "services/evaluator/metrics/ngrams.hpp"
#include "services/evaluator/metrics/words.hpp"

namespace stackgate::evaluator {
namespace {

using Numbers = std::vector<std::uint32_t>;

/// Of words: the comparison takes the product of both lengths.
constexpr std::size_t longest_product = 400'000'000;

RougeScore score_of(std::uint64_t common, std::size_t text, std::size_t reference) {
  if (common == 0) return {};
  RougeScore out{.precision = static_cast<double>(common) / static_cast<double>(text),
                 .recall = static_cast<double>(common) / static_cast<double>(reference)};
  out.fmeasure = 2 * out.precision * out.recall / (out.precision + out.recall);
  return out;
}

/// The length of the longest common subsequence, 64 words at a time (Hyyrö 2004: V = (V + (V & M)) | (V & ~M)).
std::size_t lcs_length(const Numbers& a, const Numbers& b) {
  if (a.empty() || b.empty()) return 0;
  const std::uint32_t most = *std::ranges::max_element(a);
  const std::size_t blocks = (a.size() + 63) / 64;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint64_t>>> where(most + 1);  // block, bits
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto& places = where[a[i]];
    const auto block = static_cast<std::uint32_t>(i / 64);
    if (places.empty() || places.back().first != block) places.emplace_back(block, 0);
    places.back().second |= std::uint64_t{1} << (i % 64);
  }
  std::vector<std::uint64_t> row(blocks, ~std::uint64_t{0});
  for (const std::uint32_t word : b) {
    if (word > most || where[word].empty()) continue;  // no bit set: the row stays
    auto place = where[word].begin();
    std::uint64_t carry = 0;
    for (std::size_t block = 0; block < blocks; ++block) {
      const bool here = place != where[word].end() && place->first == block;
      const std::uint64_t mask = here ? (place++)->second : 0, bits = row[block], hits = bits & mask;
      const std::uint64_t half = bits + carry, whole = half + hits;
      carry = (half < bits ? 1U : 0U) | (whole < half ? 1U : 0U);
      row[block] = whole | (bits & ~mask);
    }
  }
  std::size_t out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out += (row[i / 64] >> (i % 64) & 1U) == 0 ? 1U : 0U;
  return out;
}

/// Which words of `a` are in one longest common subsequence: the one that rouge_score takes.
void mark_lcs(const Numbers& a, const Numbers& b, std::vector<bool>& marked) {
  const std::size_t width = b.size() + 1;
  std::vector<std::uint32_t> table((a.size() + 1) * width, 0);
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      table[i * width + j] = a[i - 1] == b[j - 1] ? table[(i - 1) * width + j - 1] + 1
                                                  : std::max(table[(i - 1) * width + j], table[i * width + j - 1]);
  for (std::size_t i = a.size(), j = b.size(); i > 0 && j > 0;) {
    if (a[i - 1] == b[j - 1]) {
      marked[i - 1] = true;
      --i;
      --j;
    } else if (table[i * width + j - 1] > table[(i - 1) * width + j]) {
      --j;
    } else {
      --i;
    }
  }
}

struct Text {
  Numbers words{};
  std::vector<Numbers> sentences{};
};

Text read_text(Vocabulary& vocabulary, std::string_view text) {
  Text out;  // no word goes beyond its line
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (Numbers words = vocabulary.numbers(rouge_words(text.substr(begin, end - begin))); !words.empty()) {
      out.words.insert(out.words.end(), words.begin(), words.end());
      out.sentences.push_back(std::move(words));
    }
    begin = end + 1;
  }
  return out;
}

RougeScore lsum(const Text& text, const Text& reference, std::size_t vocabulary) {
  std::vector<std::uint32_t> left_text(vocabulary, 0), left_reference(vocabulary, 0);
  for (const std::uint32_t word : text.words) ++left_text[word];
  for (const std::uint32_t word : reference.words) ++left_reference[word];
  std::uint64_t hits = 0;
  for (const Numbers& sentence : reference.sentences) {
    std::vector<bool> marked(sentence.size(), false);
    for (const Numbers& other : text.sentences) mark_lcs(sentence, other, marked);
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      const std::uint32_t word = sentence[i];
      if (!marked[i] || left_text[word] == 0 || left_reference[word] == 0) continue;
      ++hits;
      --left_text[word];
      --left_reference[word];
    }
  }
  return score_of(hits, text.words.size(), reference.words.size());
}

}  // namespace

std::expected<RougeScores, std::string> rouge_of(std::string_view text, std::span<const std::string> references) {
  RougeScores best;
  for (const std::string& each : references) {
    Vocabulary vocabulary;
    const Text own = read_text(vocabulary, text), other = read_text(vocabulary, each);
    if (own.words.size() * other.words.size() > longest_product)
      return std::unexpected("the texts are too long to be compared: more than 20,000 words each");
    RougeScores scores;
    const std::u32string a = to_text(own.words), b = to_text(other.words);
    for (std::size_t order = 1; order <= 3; ++order) {
      const auto runs = sorted_runs(a, order), others = sorted_runs(b, order);
      scores.at(order - 1) = score_of(common_runs(runs, others), runs.size(), others.size());
    }
    scores[3] = score_of(lcs_length(other.words, own.words), own.words.size(), other.words.size());
    scores[4] = own.sentences.size() <= 1 && other.sentences.size() <= 1
                    ? scores[3]
                    : lsum(own, other, own.words.size() + other.words.size());
    for (std::size_t kind = 0; kind < best.size(); ++kind)
      if (scores.at(kind).fmeasure > best.at(kind).fmeasure) best.at(kind) = scores.at(kind);
  }
  return best;
}

}  // namespace stackgate::evaluator
