#include "services/evaluator/metrics/bleu.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "services/evaluator/metrics/ngrams.hpp"
#include "services/evaluator/metrics/words.hpp"

namespace stackgate::evaluator {
namespace {

Words bleu_tokens(std::string_view text, BleuTokens tokens) {
  return tokens == BleuTokens::v13a ? bleu_words(text) : split_words(text);
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

/// Runs of the text, each as often as the reference that has it most.
std::uint64_t clipped(const std::vector<Run>& text, const std::vector<std::vector<Run>>& references) {
  std::uint64_t out = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && text[end] == text[begin]) ++end;
    std::uint64_t most = 0;
    for (const auto& reference : references) {
      const auto [first, last] = std::ranges::equal_range(reference, text[begin]);
      most = std::max<std::uint64_t>(most, static_cast<std::uint64_t>(last - first));
    }
    out += std::min<std::uint64_t>(most, end - begin);
    begin = end;
  }
  return out;
}

/// One text as chrF sees it, in numbers.
struct ChrfText {
  std::u32string characters{}, words{};
};

ChrfText chrf_text(Vocabulary& vocabulary, std::string_view text, std::size_t word_order) {
  ChrfText out{.characters = to_text(vocabulary.numbers(characters_of(text)))};
  if (word_order > 0) out.words = to_text(vocabulary.numbers(chrf_words(text)));
  return out;
}

ChrfCounts chrf_against(const ChrfText& text, const ChrfText& reference, std::size_t word_order) {
  ChrfCounts out;
  const auto count = [&](std::size_t at, const std::u32string& own, const std::u32string& other, std::size_t order) {
    const auto mine = sorted_runs(own, order), others = sorted_runs(other, order);
    out.text.at(at) = others.empty() ? 0 : mine.size();  // no hits without a reference
    out.reference.at(at) = others.size();
    out.matches.at(at) = common_runs(mine, others);
  };
  for (std::size_t i = 0; i < ChrfCounts::characters; ++i) count(i, text.characters, reference.characters, i + 1);
  for (std::size_t i = 0; i < std::min(word_order, ChrfCounts::words); ++i)
    count(ChrfCounts::characters + i, text.words, reference.words, i + 1);
  return out;
}

}  // namespace

BleuCounts& BleuCounts::operator+=(const BleuCounts& other) {
  for (std::size_t i = 0; i < matches.size(); ++i) {
    matches.at(i) += other.matches.at(i);
    totals.at(i) += other.totals.at(i);
  }
  length += other.length;
  reference_length += other.reference_length;
  return *this;
}

BleuCounts count_bleu(std::string_view text, std::span<const std::string> references, BleuTokens tokens) {
  Vocabulary vocabulary;
  const std::u32string own = to_text(vocabulary.numbers(bleu_tokens(text, tokens)));
  std::vector<std::u32string> others;
  BleuCounts out{.length = own.size()};
  for (const std::string& each : references) {
    others.push_back(to_text(vocabulary.numbers(bleu_tokens(each, tokens))));
    const std::uint64_t length = others.back().size();
    const std::uint64_t nearer = distance(length, own.size()), near = distance(out.reference_length, own.size());
    if (others.size() == 1 || nearer < near || (nearer == near && length < out.reference_length))
      out.reference_length = length;
  }
  for (std::size_t order = 0; order < 4; ++order) {
    std::vector<std::vector<Run>> runs;
    runs.reserve(others.size());
    for (const std::u32string& each : others) runs.push_back(sorted_runs(each, order + 1));
    const auto mine = sorted_runs(own, order + 1);
    out.totals.at(order) = mine.size();
    out.matches.at(order) = clipped(mine, runs);
  }
  return out;
}

Bleu bleu_of(const BleuCounts& counts, bool effective_order) {
  Bleu out;
  out.brevity_penalty = 1;
  if (counts.length < counts.reference_length)
    out.brevity_penalty =
        counts.length == 0
            ? 0
            : std::exp(1 - static_cast<double>(counts.reference_length) / static_cast<double>(counts.length));
  if (std::ranges::all_of(counts.matches, [](std::uint64_t n) { return n == 0; })) return out;
  double smooth = 1, logarithms = 0;
  std::size_t orders = 0;
  for (; orders < 4 && counts.totals.at(orders) > 0; ++orders) {
    const auto total = static_cast<double>(counts.totals.at(orders));
    const std::uint64_t matches = counts.matches.at(orders);
    if (matches == 0) smooth *= 2;
    out.precisions.at(orders) = 100 * (matches == 0 ? 1 / smooth : static_cast<double>(matches)) / total;
    logarithms += std::log(out.precisions.at(orders));
  }
  if (orders == 0 || (orders < 4 && !effective_order)) return out;
  // exp(log(100)) is a little more than 100.
  out.score = std::min(100.0, out.brevity_penalty * std::exp(logarithms / static_cast<double>(orders)));
  return out;
}

ChrfCounts& ChrfCounts::operator+=(const ChrfCounts& other) {
  for (std::size_t i = 0; i < orders; ++i) {
    text.at(i) += other.text.at(i);
    reference.at(i) += other.reference.at(i);
    matches.at(i) += other.matches.at(i);
  }
  return *this;
}

ChrfCounts count_chrf(std::string_view text, std::span<const std::string> references, std::size_t word_order) {
  Vocabulary vocabulary;
  const ChrfText own = chrf_text(vocabulary, text, word_order);
  ChrfCounts best;
  double most = -1;
  for (const std::string& each : references) {
    const ChrfCounts counts = chrf_against(own, chrf_text(vocabulary, each, word_order), word_order);
    if (const double score = chrf_of(counts); score > most) {
      most = score;
      best = counts;
    }
  }
  return best;
}

double chrf_of(const ChrfCounts& counts) {
  constexpr double factor = 4;  // beta squared
  double precision = 0, recall = 0;
  int orders = 0;
  for (std::size_t i = 0; i < ChrfCounts::orders; ++i) {
    if (counts.text.at(i) == 0 || counts.reference.at(i) == 0) continue;
    const auto matches = static_cast<double>(counts.matches.at(i));
    precision += matches / static_cast<double>(counts.text.at(i));
    recall += matches / static_cast<double>(counts.reference.at(i));
    ++orders;
  }
  if (orders == 0 || precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  return 100 * (1 + factor) * precision * recall / (factor * precision + recall);
}

}  // namespace stackgate::evaluator
