// Sampling written apart from the product: doubles, whole sorts, one step after the other as the reference tells them.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <vector>

#include "services/inference/sampling/parameters.hpp"

namespace stackgate::inference::test {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

struct SlowInput {
  std::vector<float> row;
  SamplingParameters by;
  std::vector<TokenId> prompt, output, ending;
};

/// The probability of each id after all steps.
inline std::vector<double> slow_probabilities(const SlowInput& in) {
  const SamplingParameters& by = in.by;
  std::vector<double> x(in.row.begin(), in.row.end());
  for (const auto& [id, bias] : by.logit_bias) x[id] += static_cast<double>(bias);
  if (in.output.size() < by.min_tokens)
    for (const TokenId id : in.ending) x[id] = -infinity;
  std::set<TokenId> seen(in.prompt.begin(), in.prompt.end());
  seen.insert(in.output.begin(), in.output.end());
  for (const TokenId id : seen) {
    const double penalty = static_cast<double>(by.repetition_penalty);
    x[id] = x[id] > 0 ? x[id] / penalty : x[id] * penalty;
    const auto count = std::ranges::count(in.output, id);
    x[id] -= static_cast<double>(by.frequency_penalty) * static_cast<double>(count);
    if (count > 0) x[id] -= static_cast<double>(by.presence_penalty);
  }
  const auto softmax = [&x] {
    const double most = *std::ranges::max_element(x);
    std::vector<double> p;
    for (const double each : x) p.push_back(std::exp(each - most));
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& each : p) each /= sum;
    return p;
  };
  const auto drop = [&x](auto&& when) {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (when(i)) x[i] = -infinity;
  };
  if (by.temperature < 1e-5F) {
    const auto best = static_cast<std::size_t>(std::ranges::max_element(x) - x.begin());
    drop([&](std::size_t i) { return i != best; });
    return softmax();
  }
  for (double& each : x) each /= static_cast<double>(by.temperature);
  {
    const std::vector<double> p = softmax();
    const double least = static_cast<double>(by.min_p) * *std::ranges::max_element(p);
    drop([&](std::size_t i) { return p[i] < least; });
  }
  if (by.top_k > 0 && by.top_k < x.size()) {
    std::vector<double> sorted = x;
    std::ranges::sort(sorted, std::greater{});
    drop([&, kth = sorted[by.top_k - 1]](std::size_t i) { return x[i] < kth; });
  }
  if (by.top_p < 1) {
    const std::vector<double> p = softmax();
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&p](auto a, auto b) { return p[a] > p[b]; });
    double sum = 0;
    std::vector<bool> stays(p.size());
    for (const std::size_t i : order) {
      if (sum >= static_cast<double>(by.top_p) && sum > 0) break;
      stays[i] = true;
      sum += p[i];
    }
    drop([&](std::size_t i) { return !stays[i]; });
  }
  return softmax();
}

/// Whether a draw of `at` in 0 … 1 may give `id`, but for rounding.
inline bool may_give(const std::vector<double>& probabilities, TokenId id, double at) {
  constexpr double rounding = 2e-6;
  const double begin = std::accumulate(probabilities.begin(), probabilities.begin() + id, 0.0);
  return probabilities[id] > 0 && at >= begin - rounding && at <= begin + probabilities[id] + rounding;
}

}  // namespace stackgate::inference::test
