// ROUGE as rouge_score computes it, without its stemmer. Pure. Scores are 0 … 1.
// Source: Lin (2004), https://github.com/google-research/google-research/tree/master/rouge
#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

namespace stackgate::evaluator {

/// Lsum: by sentences, which are lines.
enum class Rouge : std::uint8_t { one, two, three, l, lsum };
inline constexpr std::array<std::string_view, 5> rouge_names = {"rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum"};

struct RougeScore {
  double precision = 0, recall = 0, fmeasure = 0;
};
using RougeScores = std::array<RougeScore, 5>;  // by Rouge

/// Each kind of the reference that has the best fmeasure in it. The error: a text is too long to be compared.
std::expected<RougeScores, std::string> rouge_of(std::string_view text, std::span<const std::string> references);

}  // namespace stackgate::evaluator
