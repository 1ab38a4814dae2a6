#include "services/evaluator/metrics/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace stackgate::evaluator {
namespace {

double discount(std::size_t rank) { return 1 / std::log2(static_cast<double>(rank) + 2); }

double gain_of(const DocumentScores& judged, const std::string& document) {
  const auto found = judged.find(document);
  return found == judged.end() ? 0 : std::max(found->second, 0.0);
}

RankingAt scores_at(std::span<const double> gains, std::span<const double> ideal, std::uint32_t k) {
  RankingAt out;
  double ideal_sum = 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(k, std::max(gains.size(), ideal.size())); ++i) {
    if (i < gains.size()) out.ndcg += gains[i] * discount(i);
    if (i < ideal.size()) ideal_sum += ideal[i] * discount(i);
    found += i < gains.size() && gains[i] > 0 ? 1U : 0U;
  }
  out.ndcg /= ideal_sum;
  out.recall = static_cast<double>(found) / static_cast<double>(ideal.size());
  out.precision = static_cast<double>(found) / k;
  return out;
}

}  // namespace

std::optional<Ranking> rank_scores(const DocumentScores& run, const DocumentScores& judged,
                                   std::span<const std::uint32_t> ks) {
  std::vector<double> ideal;
  for (const auto& [document, gain] : judged)
    if (gain > 0) ideal.push_back(gain);
  if (ideal.empty()) return std::nullopt;
  std::ranges::sort(ideal, std::greater{});
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [document, score] : run) order.emplace_back(score, document);
  std::ranges::sort(order, std::greater{});
  std::vector<double> gains;
  gains.reserve(order.size());
  for (const auto& [score, document] : order) gains.push_back(gain_of(judged, document));

  Ranking out;
  for (const std::uint32_t k : ks) out.at.push_back(scores_at(gains, ideal, k));
  std::size_t found = 0;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    if (gains[i] <= 0) continue;
    const auto rank = static_cast<double>(i + 1);
    if (++found == 1) out.mrr = 1 / rank;
    out.map += static_cast<double>(found) / rank;
  }
  out.map /= static_cast<double>(ideal.size());
  return out;
}

}  // namespace stackgate::evaluator
