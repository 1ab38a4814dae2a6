// Means, their errors, and whether two of them differ. Pure. Values that are no number (NaN) are left out and counted.
#pragma once
#include <cstdint>
#include <span>

namespace stackgate::evaluator {

struct Mean {
  double value;  // NaN of nothing
  double error;  // standard error: the sample's deviation / √n; NaN of less than two
  std::uint64_t count = 0, nan_count = 0;
};
Mean mean_of(std::span<const double> values);

/// Two systems over the same items: how often a sample of the differences, drawn with replacement and centred, has a
/// mean as far from 0 as theirs. Two-sided; 1 where there is no difference at all.
double paired_bootstrap(std::span<const double> a, std::span<const double> b, std::uint32_t rounds, std::uint64_t seed);

/// The same for scores of 0 and 1: exact binomial over the items in which they differ, two-sided. McNemar (1947).
/// `only_a`: items that only the first got right.
double mcnemar(std::uint64_t only_a, std::uint64_t only_b);

}  // namespace stackgate::evaluator
