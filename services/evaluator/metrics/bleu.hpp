// BLEU and chrF as sacreBLEU computes them. Pure. Scores are 0 … 100.
// Source: Papineni et al. (2002), Post (2018) and sacreBLEU 2; Popović (2015) for chrF.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stackgate::evaluator {

/// What one text and its references give; sums of these are a corpus.
struct BleuCounts {
  std::array<std::uint64_t, 4> matches{}, totals{};
  std::uint64_t length = 0, reference_length = 0;
  BleuCounts& operator+=(const BleuCounts& other);
};

enum class BleuTokens : std::uint8_t { v13a, none };

/// Clipped by the best reference; the reference length is the closest one, the shorter of two.
BleuCounts count_bleu(std::string_view text, std::span<const std::string> references,
                      BleuTokens tokens = BleuTokens::v13a);

struct Bleu {
  double score = 0, brevity_penalty = 0;
  std::array<double, 4> precisions{};
};
/// Exponential smoothing. `effective_order`: orders that the text is too short for are left out, for single sentences.
Bleu bleu_of(const BleuCounts& counts, bool effective_order);

struct ChrfCounts {
  static constexpr std::size_t characters = 6, words = 2,
                               orders = characters + words;  // runs of one, then of the other
  std::array<std::uint64_t, orders> text{}, reference{}, matches{};
  ChrfCounts& operator+=(const ChrfCounts& other);
};
/// Of the reference that is best for this text. Without white space, beta 2. `word_order`: runs of up to as many words,
/// at most 2, count, too; 2 is chrF++ (Popović 2017).
ChrfCounts count_chrf(std::string_view text, std::span<const std::string> references, std::size_t word_order = 0);
double chrf_of(const ChrfCounts& counts);

}  // namespace stackgate::evaluator
