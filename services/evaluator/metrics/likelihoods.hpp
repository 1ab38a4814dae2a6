// Scores from log-probabilities. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stackgate::evaluator {

/// Sums over a corpus.
struct LikelihoodSums {
  double loglikelihood = 0;                        // natural logarithm
  std::uint64_t words = 0, bytes = 0, tokens = 0;  // tokens: 0 where they are not known
  LikelihoodSums& operator+=(const LikelihoodSums& other);
};
/// Words are what is between runs of white space, empty ends included, as lm-evaluation-harness counts them.
LikelihoodSums likelihood_sums(std::string_view text, double loglikelihood, std::uint64_t tokens);

struct Perplexities {
  double word_perplexity, byte_perplexity, bits_per_byte;
  std::optional<double> perplexity{};  // by token
};
/// NaN where there is nothing to divide by.
Perplexities perplexities(const LikelihoodSums& sums);

struct ChoiceScores {
  double acc, acc_norm, acc_bytes;  // 0 or 1; norm: by the characters of a choice, bytes: by its bytes
};
/// The most likely choice, the first of equals, against those that are right.
ChoiceScores choice_scores(std::span<const std::string> choices, std::span<const double> loglikelihoods,
                           std::span<const std::size_t> gold);

/// 1 − C(n − c, k) / C(n, k): the chance that one of k of n programs, of which c are right, is right. Chen et al.
/// (2021). Nothing for a k beyond n.
std::optional<double> pass_at_k(std::uint64_t n, std::uint64_t c, std::uint64_t k);

}  // namespace stackgate::evaluator
