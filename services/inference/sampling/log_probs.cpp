#include "services/inference/sampling/log_probs.hpp"

#include <algorithm>

#include "services/inference/sampling/row.hpp"

namespace stackgate::inference {

LogProbs log_probs(std::span<const float> row, TokenId chosen, std::uint32_t top) {
  const double all = log_sum_exp(row, largest(row).value);
  const auto of = [&](float logit) { return static_cast<float>(static_cast<double>(logit) - all); };
  std::vector<Scored> best;
  best_of_row(row, top, best);
  LogProbs out{.chosen = of(row[chosen]), .top = {}};
  out.top.reserve(best.size() + 1);
  for (const Scored& each : best) out.top.push_back({each.id, of(each.value)});
  if (std::ranges::find(out.top, chosen, &TokenLogProb::id) == out.top.end()) out.top.push_back({chosen, out.chosen});
  return out;
}

}  // namespace stackgate::inference
