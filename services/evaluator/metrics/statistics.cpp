#include "services/evaluator/metrics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace stackgate::evaluator {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> numbers(std::span<const double> values) {
  std::vector<double> out;
  for (const double each : values)
    if (!std::isnan(each)) out.push_back(each);
  return out;
}

double sum(std::span<const double> values) {
  // Neumaier's: 100,000 scores must not depend on their order.
  double total = 0, lost = 0;
  for (const double each : values) {
    const double next = total + each;
    lost += std::abs(total) >= std::abs(each) ? (total - next) + each : (each - next) + total;
    total = next;
  }
  return total + lost;
}

/// The mean of as many values, drawn with replacement. The generator's own numbers are the same everywhere, a
/// distribution of the standard library's is not.
double drawn_mean(std::span<const double> values, std::mt19937_64& random) {
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) total += values[random() % values.size()];
  return total / static_cast<double>(values.size());
}

}  // namespace

Mean mean_of(std::span<const double> values) {
  const std::vector<double> known = numbers(values);
  Mean out{.value = nan, .error = nan, .count = known.size(), .nan_count = values.size() - known.size()};
  if (known.empty()) return out;
  const auto count = static_cast<double>(known.size());
  out.value = sum(known) / count;
  if (known.size() < 2) return out;
  std::vector<double> squares;
  squares.reserve(known.size());
  for (const double each : known) squares.push_back((each - out.value) * (each - out.value));
  out.error = std::sqrt(sum(squares) / (count - 1) / count);
  return out;
}

double paired_bootstrap(std::span<const double> a, std::span<const double> b, std::uint32_t rounds,
                        std::uint64_t seed) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (!std::isnan(a[i]) && !std::isnan(b[i])) differences.push_back(a[i] - b[i]);
  if (differences.empty() || rounds == 0) return nan;
  const double seen = sum(differences) / static_cast<double>(differences.size());
  for (double& each : differences) each -= seen;
  std::mt19937_64 random(seed);
  std::uint32_t as_far = 0;
  for (std::uint32_t i = 0; i < rounds; ++i)
    as_far += std::abs(drawn_mean(differences, random)) >= std::abs(seen) ? 1U : 0U;
  // With the seen one among them, so that it is never 0 (Davison and Hinkley, 4.2.5).
  return (as_far + 1.0) / (rounds + 1.0);
}

double mcnemar(std::uint64_t only_a, std::uint64_t only_b) {
  const std::uint64_t differ = only_a + only_b;
  if (differ == 0) return 1;
  const auto n = static_cast<double>(differ);
  double tail = 0;
  for (std::uint64_t k = 0; k <= std::min(only_a, only_b); ++k) {
    const auto i = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) - n * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

}  // namespace stackgate::evaluator
