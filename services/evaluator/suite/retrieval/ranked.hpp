// What a retriever answers, and the scores of its order. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/evaluator/metrics/ranking.hpp"
#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

using Ranked = std::vector<std::pair<std::string, double>>;  // the best first

/// {"doc1": 0.83, "doc7": 0.51}, in the order of rank.
std::string write_ranked(const Ranked& ranked);
std::expected<Ranked, std::string> read_ranked(std::string_view text);

/// Names of the columns: recall_5, ndcg_cut_5, precision_5, …, mrr, map.
std::vector<std::string> ranking_names(std::span<const std::uint32_t> cutoffs);
/// One value for each name; no_value for a query without relevant documents.
std::vector<double> ranking_values(const DocumentScores& run, const DocumentScores& judged,
                                   std::span<const std::uint32_t> cutoffs);

}  // namespace stackgate::evaluator
