#include "services/evaluator/compare/difference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "services/evaluator/metrics/statistics.hpp"

namespace stackgate::evaluator {
namespace difference_detail {

constexpr std::size_t most_resampled = 20'000;
constexpr std::size_t draws = 20'000'000;
constexpr std::uint64_t seed = 1;

/// That a number is the mean of these, but for how it was rounded.
bool is_mean_of(double value, std::span<const double> samples) {
  const Mean mean = mean_of(samples);
  return mean.count > 0 &&
         std::abs(mean.value - value) <= 1e-6 * std::max({1.0, std::abs(value), std::abs(mean.value)});
}

struct Pairs {
  std::vector<double> a, b, differences;
  bool binary = true;
  std::uint64_t only_a = 0, only_b = 0;
};

Pairs pairs_of(std::span<const double> a, std::span<const double> b) {
  Pairs out;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    out.a.push_back(a[i]);
    out.b.push_back(b[i]);
    out.differences.push_back(b[i] - a[i]);
    out.binary = out.binary && (a[i] == 0 || a[i] == 1) && (b[i] == 0 || b[i] == 1);
    if (a[i] > b[i]) ++out.only_a;
    if (b[i] > a[i]) ++out.only_b;
  }
  return out;
}

double normal_p(double z) { return std::erfc(std::abs(z) / std::numbers::sqrt2); }

void test_pairs(const Pairs& pairs, std::uint32_t rounds, Difference& out) {
  out.items = pairs.differences.size();
  const Mean mean = mean_of(pairs.differences);
  out.error = mean.error;
  if (pairs.binary) {
    out.test = "mcnemar";
    out.p_value = mcnemar(pairs.only_a, pairs.only_b);
  } else if (pairs.a.size() <= most_resampled) {
    out.test = "paired_bootstrap";
    const std::size_t most = std::min<std::size_t>(rounds, draws / pairs.a.size());
    out.p_value = paired_bootstrap(pairs.a, pairs.b, static_cast<std::uint32_t>(most), seed);
  } else {
    out.test = "paired_normal";
    out.p_value = mean.error > 0 ? normal_p(mean.value / mean.error) : (mean.value == 0 ? 1 : 0);
  }
}

void test_means(const Score& a, const Score& b, Difference& out) {
  out.error = std::hypot(a.error, b.error);
  // Without any spread in either there is nothing to hold the difference against.
  if (!std::isfinite(out.error) || out.error <= 0) return;
  out.test = "normal";
  out.p_value = normal_p(out.delta / out.error);
}

}  // namespace difference_detail

double normal_quantile(double confidence) {
  double low = 0, high = 10;
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::numbers::sqrt2) < confidence ? low : high) = middle;
  }
  return (low + high) / 2;
}

Difference difference_of(const Score& a, const Score& b, std::span<const double> samples_a,
                         std::span<const double> samples_b, double confidence, std::uint32_t rounds) {
  using namespace difference_detail;
  Difference out;
  if (!std::isfinite(a.value) || !std::isfinite(b.value)) return out;
  out.delta = b.value - a.value;
  const Pairs pairs =
      is_mean_of(a.value, samples_a) && is_mean_of(b.value, samples_b) ? pairs_of(samples_a, samples_b) : Pairs{};
  if (pairs.differences.size() >= 2)
    test_pairs(pairs, rounds, out);
  else
    test_means(a, b, out);
  if (std::isfinite(out.error)) {
    const double reach = normal_quantile(confidence) * out.error;
    out.low = out.delta - reach;
    out.high = out.delta + reach;
  }
  out.significant = std::isfinite(out.p_value) && out.p_value < 1 - confidence && out.delta != 0;
  if (out.significant) out.better = (out.delta > 0) == b.higher_is_better ? 1 : -1;
  return out;
}

}  // namespace stackgate::evaluator
