#include "services/inference/sampling/token_counts.hpp"

namespace stackgate::inference {

TokenCounts::TokenCounts(std::span<const TokenId> prompt) {
  for (const TokenId id : prompt) output_counts_.try_emplace(id, 0);
}

void TokenCounts::penalize(std::span<float> row, const SamplingParameters& by) const {
  for (const auto& [id, count] : output_counts_) {
    if (id >= row.size()) continue;
    float& logit = row[id];
    logit = logit > 0 ? logit / by.repetition_penalty : logit * by.repetition_penalty;
    if (count > 0) logit -= by.frequency_penalty * static_cast<float>(count) + by.presence_penalty;
  }
}

}  // namespace stackgate::inference
