#include "services/inference/sampling/truncation.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace stackgate::inference {
namespace {

/// Rarely does anything smaller stay; where it would, all are looked at.
constexpr float first_look = 1e-4F;

double sum(std::span<const Scored> of) {
  return std::accumulate(of.begin(), of.end(), 0.0,
                         [](double so_far, const Scored& one) { return so_far + static_cast<double>(one.value); });
}

}  // namespace

void Truncation::gather(std::span<const float> weights, float least) {
  kept_.clear();
  for (std::size_t id = 0; id < weights.size(); ++id)
    if (weights[id] >= least) kept_.push_back({static_cast<TokenId>(id), weights[id]});
}

void Truncation::keep_best(std::uint32_t count) {
  if (kept_.size() <= count) return;
  order_ = kept_;
  const auto last = order_.begin() + (count - 1);
  std::ranges::nth_element(order_, last, ranks_before);
  const float least = last->value;
  std::erase_if(kept_, [least](const Scored& one) { return one.value < least; });
}

/// Halves what is in question, so that the whole costs as much as a few passes.
Cut Truncation::cut_at(double share) {
  order_ = kept_;
  auto begin = order_.begin(), end = order_.end();
  double before = 0;
  while (end - begin > 1) {
    const auto middle = begin + (end - begin - 1) / 2;
    std::nth_element(begin, middle, end, ranks_before);
    const double first_half = sum({begin, middle + 1});
    if (before + first_half >= share) {
      end = middle + 1;
    } else {
      before += first_half;
      begin = middle + 1;
    }
  }
  return {begin->value, begin->id};
}

std::span<const Scored> Truncation::keep(std::span<const float> weights, double total, std::uint32_t top_k,
                                         float top_p) {
  constexpr float any = std::numeric_limits<float>::min();
  const bool few = top_k > 0 && top_k < weights.size();
  const double share = static_cast<double>(top_p);
  gather(weights, few || share < 1 ? first_look : any);
  if (few ? kept_.size() < top_k : share < 1 && sum(kept_) < share * total) gather(weights, any);
  if (few) {
    keep_best(top_k);
    total = sum(kept_);
  }
  if (share < 1) {
    const Cut cut = cut_at(share * total);
    std::erase_if(kept_, [&cut](const Scored& one) { return !cut.keeps(one); });
  }
  return kept_;
}

}  // namespace stackgate::inference
