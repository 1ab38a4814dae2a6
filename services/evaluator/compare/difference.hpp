// Whether one score differs from another, and by how much. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

struct Difference {
  double delta = no_value;                 // b − a
  double error = no_value;                 // its standard error
  double low = no_value, high = no_value;  // delta ± z · error
  double p_value = no_value;               // two-sided
  /// "mcnemar" (exact), "paired_bootstrap" (up to 20,000 items), "paired_normal" (beyond), "normal" (of two
  /// independent means), "none": too little is known.
  std::string_view test = "none";
  std::uint64_t items = 0;   // pairs; 0: not paired
  bool significant = false;  // p_value < 1 − confidence
  /// What b is where it differs: 1 better, −1 worse; 0: no difference that counts.
  int better = 0;
};

/// `samples_a`, `samples_b`: by item, no_value where there is none; empty: not known, or not of the same items. They
/// are used where the score is their mean: a corpus score has no pairs. `rounds` of a bootstrap are fewer where they
/// would draw more than 20 million times.
Difference difference_of(const Score& a, const Score& b, std::span<const double> samples_a,
                         std::span<const double> samples_b, double confidence, std::uint32_t rounds = 2'000);

/// z with P(|N(0, 1)| < z) = confidence.
double normal_quantile(double confidence);

}  // namespace stackgate::evaluator
