#include "services/evaluator/metrics/likelihoods.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "services/kit/jinja/unicode.hpp"

namespace stackgate::evaluator {
namespace {

std::uint64_t count_words(std::string_view text) {
  std::uint64_t out = 1;
  for (bool in_space = false; !text.empty(); text.remove_prefix(jinja::point_size(text))) {
    const bool space = jinja::is_space(jinja::point_at(text));
    out += space && !in_space ? 1U : 0U;
    in_space = space;
  }
  return out;
}

double ratio(double sum, std::uint64_t count) {
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

/// Whether the choice that `value` makes the greatest is among the right ones.
template <class Value>
double is_right(std::size_t count, std::span<const std::size_t> gold, const Value& value) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < count; ++i)
    if (value(i) > value(best)) best = i;
  return std::ranges::find(gold, best) == gold.end() ? 0 : 1;
}

}  // namespace

LikelihoodSums& LikelihoodSums::operator+=(const LikelihoodSums& other) {
  loglikelihood += other.loglikelihood;
  words += other.words;
  bytes += other.bytes;
  tokens += other.tokens;
  return *this;
}

LikelihoodSums likelihood_sums(std::string_view text, double loglikelihood, std::uint64_t tokens) {
  return {.loglikelihood = loglikelihood, .words = count_words(text), .bytes = text.size(), .tokens = tokens};
}

Perplexities perplexities(const LikelihoodSums& sums) {
  Perplexities out{.word_perplexity = std::exp(-ratio(sums.loglikelihood, sums.words)),
                   .byte_perplexity = std::exp(-ratio(sums.loglikelihood, sums.bytes)),
                   .bits_per_byte = (0 - ratio(sums.loglikelihood, sums.bytes)) / std::numbers::ln2};
  if (sums.tokens > 0) out.perplexity = std::exp(-ratio(sums.loglikelihood, sums.tokens));
  return out;
}

ChoiceScores choice_scores(std::span<const std::string> choices, std::span<const double> loglikelihoods,
                           std::span<const std::size_t> gold) {
  const std::size_t count = std::min(choices.size(), loglikelihoods.size());
  const auto per = [&](std::size_t i, std::size_t length) {
    return loglikelihoods[i] / static_cast<double>(std::max<std::size_t>(length, 1));
  };
  return {.acc = is_right(count, gold, [&](std::size_t i) { return loglikelihoods[i]; }),
          .acc_norm = is_right(count, gold, [&](std::size_t i) { return per(i, jinja::count_points(choices[i])); }),
          .acc_bytes = is_right(count, gold, [&](std::size_t i) { return per(i, choices[i].size()); })};
}

std::optional<double> pass_at_k(std::uint64_t n, std::uint64_t c, std::uint64_t k) {
  if (k == 0 || k > n || c > n) return std::nullopt;
  if (n - c < k) return 1;
  double none = 1;
  for (std::uint64_t i = n - c + 1; i <= n; ++i) none *= 1 - static_cast<double>(k) / static_cast<double>(i);
  return 1 - none;
}

}  // namespace stackgate::evaluator
