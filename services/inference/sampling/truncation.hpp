// min_p, top_k and top_p: which tokens a draw may give. Pure but for the buffers that it keeps.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "services/inference/sampling/row.hpp"

namespace stackgate::inference {

/// What stays: weights above `weight`, and those equal to it up to this id.
struct Cut {
  float weight = 0;
  TokenId last = 0;
  bool keeps(const Scored& one) const {
    return one.value > weight || (one.value == weight && one.value > 0 && one.id <= last);
  }
};

class Truncation {
 public:
  /// `weights` ≥ 0, those that min_p drops are 0; `total` is their sum. top_k keeps the k best and what equals the
  /// k-th; top_p of what is left the shortest prefix, best first and of equals the lower id first, whose sum reaches
  /// its share. Returns what stays, by id; at least one. The view holds until the next call.
  std::span<const Scored> keep(std::span<const float> weights, double total, std::uint32_t top_k, float top_p);

 private:
  void gather(std::span<const float> weights, float least);
  void keep_best(std::uint32_t count);
  Cut cut_at(double share);

  std::vector<Scored> kept_, order_;
};

}  // namespace stackgate::inference
