// Scores of ranked documents, as trec_eval computes them. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stackgate::evaluator {

using DocumentScores = std::map<std::string, double>;

struct RankingAt {
  double ndcg = 0, recall = 0, precision = 0;
};
struct Ranking {
  std::vector<RankingAt> at{};  // of each k
  double mrr = 0, map = 0;
};

/// `run`: document to score; the greater id (by bytes) comes first among equal scores. `judged`: document to gain; one
/// of 0 or less is not relevant. Gains count linearly; the ideal is made of all judged ones. Nothing for a query
/// without relevant documents.
std::optional<Ranking> rank_scores(const DocumentScores& run, const DocumentScores& judged,
                                   std::span<const std::uint32_t> ks);

}  // namespace stackgate::evaluator
