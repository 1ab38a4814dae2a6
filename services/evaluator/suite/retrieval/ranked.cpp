#include "services/evaluator/suite/retrieval/ranked.hpp"

#include <cmath>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {

std::string write_ranked(const Ranked& ranked) {
  return json::object_text([&](json::Writer& w) {
    for (const auto& [document, score] : ranked) w.member(document, score);
  });
}

std::expected<Ranked, std::string> read_ranked(std::string_view text) {
  json::Document document;
  const auto root = json::parse(text, document, {.max_depth = 4, .max_bytes = 64U << 20U});
  if (!root || !root->is_object()) return std::unexpected("the retriever's answer is no JSON object");
  Ranked out;
  for (const json::Member& each : root->members()) {
    if (!each.value.is_number() || !std::isfinite(each.value.number()))
      return std::unexpected("the retriever's answer has a score that is no number");
    out.emplace_back(each.key, each.value.number());
  }
  return out;
}

std::vector<std::string> ranking_names(std::span<const std::uint32_t> cutoffs) {
  std::vector<std::string> out;
  for (const std::uint32_t k : cutoffs)
    for (const std::string_view name : {"recall", "ndcg_cut", "precision"})
      out.push_back(fmt::format("{}_{}", name, k));
  out.emplace_back("mrr");
  out.emplace_back("map");
  return out;
}

std::vector<double> ranking_values(const DocumentScores& run, const DocumentScores& judged,
                                   std::span<const std::uint32_t> cutoffs) {
  const auto ranking = rank_scores(run, judged, cutoffs);
  if (!ranking) return std::vector<double>(cutoffs.size() * 3 + 2, no_value);
  std::vector<double> out;
  for (const RankingAt& at : ranking->at) out.insert(out.end(), {at.recall, at.ndcg, at.precision});
  out.insert(out.end(), {ranking->mrr, ranking->map});
  return out;
}

}  // namespace stackgate::evaluator
