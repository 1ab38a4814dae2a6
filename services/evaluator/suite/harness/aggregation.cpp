#include "services/evaluator/suite/harness/aggregation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "services/evaluator/metrics/bleu.hpp"
#include "services/evaluator/metrics/statistics.hpp"
#include "services/evaluator/suite/harness/python_random.hpp"

namespace stackgate::evaluator::harness {
namespace {

using Rows = std::vector<std::vector<double>>;
using Picks = std::vector<std::uint32_t>;

std::uint64_t whole(double number) { return static_cast<std::uint64_t>(number); }

double bleu_from(std::span<const double> sums) {
  BleuCounts counts{.length = whole(sums[8]), .reference_length = whole(sums[9])};
  for (std::size_t i = 0; i < 4; ++i) {
    counts.matches.at(i) = whole(sums[i]);
    counts.totals.at(i) = whole(sums[i + 4]);
  }
  return bleu_of(counts, false).score;
}

double chrf_from(std::span<const double> sums) {
  constexpr std::size_t n = ChrfCounts::characters;
  ChrfCounts counts;
  for (std::size_t i = 0; i < n; ++i) {
    counts.text.at(i) = whole(sums[i]);
    counts.reference.at(i) = whole(sums[i + n]);
    counts.matches.at(i) = whole(sums[i + 2 * n]);
  }
  return chrf_of(counts);
}

std::vector<double> sums_of(const Rows& rows, const Picks& picks) {
  std::vector<double> out(rows.front().size(), 0.0);
  for (const std::uint32_t pick : picks)
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += rows[pick][i];
  return out;
}

/// The upper one of an even number, as lm-evaluation-harness takes it.
double median_of(const Rows& rows, const Picks& picks) {
  std::vector<double> values;
  for (const std::uint32_t pick : picks) values.push_back(rows[pick].front());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Of choice 1, as scikit-learn's f1_score has it: 0 where there is none.
double f1_of(const Rows& rows, const Picks& picks) {
  double both = 0, one = 0;
  for (const std::uint32_t pick : picks) {
    const bool right = rows[pick][0] == 1, chosen = rows[pick][1] == 1;
    both += right && chosen ? 1 : 0;
    one += (right ? 1 : 0) + (chosen ? 1 : 0);
  }
  return one == 0 ? 0 : 2 * both / one;
}

/// Gorodkin (2004): of any number of classes. 0 where either side is of one class only.
double matthews_of(const Rows& rows, const Picks& picks) {
  std::map<double, std::pair<double, double>> classes;  // how often right, how often chosen
  double correct = 0;
  for (const std::uint32_t pick : picks) {
    ++classes[rows[pick][0]].first;
    ++classes[rows[pick][1]].second;
    correct += rows[pick][0] == rows[pick][1] ? 1 : 0;
  }
  const auto all = static_cast<double>(picks.size());
  double together = correct * all, right = all * all, chosen = all * all;
  for (const auto& [name, counts] : classes) {
    together -= counts.first * counts.second;
    right -= counts.first * counts.first;
    chosen -= counts.second * counts.second;
  }
  return right == 0 || chosen == 0 ? 0 : together / std::sqrt(right * chosen);
}

double from_sums(Aggregation aggregation, std::span<const double> sums, std::size_t count) {
  switch (aggregation) {
    case Aggregation::perplexity:
      return std::exp(-sums[0] / static_cast<double>(count));
    case Aggregation::weighted_perplexity:
      return sums[1] > 0 ? std::exp(-sums[0] / sums[1]) : no_value;
    case Aggregation::bits_per_byte:
      return sums[1] > 0 ? -sums[0] / sums[1] / std::numbers::ln2 : no_value;
    case Aggregation::bleu:
      return bleu_from(sums);
    case Aggregation::chrf:
      return chrf_from(sums);
    default:
      return sums[0] / static_cast<double>(count);
  }
}

double of_picks(Aggregation aggregation, const Rows& rows, const Picks& picks) {
  switch (aggregation) {
    case Aggregation::median:
      return median_of(rows, picks);
    case Aggregation::f1:
      return f1_of(rows, picks);
    case Aggregation::matthews_corrcoef:
      return matthews_of(rows, picks);
    default:
      return from_sums(aggregation, sums_of(rows, picks), picks.size());
  }
}

/// The deviation of the statistic over samples drawn with replacement.
double bootstrap_error(Aggregation aggregation, const Rows& rows, std::optional<std::uint32_t> rounds) {
  const bool slow = aggregation == Aggregation::bleu || aggregation == Aggregation::chrf;
  PythonRandom random(0);
  std::vector<double> results;
  Picks picks(rows.size());
  for (std::uint32_t left = rounds.value_or(slow ? slow_bootstrap_rounds : bootstrap_rounds); left > 0; --left) {
    for (std::uint32_t& pick : picks)
      pick = static_cast<std::uint32_t>(random.real() * static_cast<double>(rows.size()));
    results.push_back(of_picks(aggregation, rows, picks));
  }
  const Mean mean = mean_of(results);
  return mean.error * std::sqrt(static_cast<double>(mean.count));
}

}  // namespace

Estimate estimate_of(Aggregation aggregation, Rows rows, std::optional<std::uint32_t> rounds) {
  if (rows.empty()) return {};
  if (aggregation == Aggregation::mean) {
    std::vector<double> values;
    for (const auto& row : rows) values.push_back(row.front());
    const Mean mean = mean_of(values);
    return {.value = mean.value, .error = mean.error};
  }
  std::ranges::sort(rows);  // what is drawn must not depend on which answer came first
  Picks all(rows.size());
  std::iota(all.begin(), all.end(), 0U);
  return {.value = of_picks(aggregation, rows, all),
          .error = rows.size() < 2 ? no_value : bootstrap_error(aggregation, rows, rounds)};
}

double statistic(Aggregation aggregation, std::span<const double> row) { return from_sums(aggregation, row, 1); }

}  // namespace stackgate::evaluator::harness
