// Many samples' numbers as one, and its standard error. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "services/evaluator/suite/harness/metrics.hpp"

namespace stackgate::evaluator::harness {

inline constexpr std::uint32_t bootstrap_rounds = 1'000;
inline constexpr std::uint32_t slow_bootstrap_rounds = 100;  // of BLEU and chrF

struct Estimate {
  double value = no_value, error = no_value;
};

/// Of rows that have the numbers of the aggregation's shape. NaN of none, and an error of NaN of less than two.
/// `rounds` of the error that must be drawn: nothing is the above, less than two is no error.
Estimate estimate_of(Aggregation aggregation, std::vector<std::vector<double>> rows,
                     std::optional<std::uint32_t> rounds = {});

/// Of one row alone.
double statistic(Aggregation aggregation, std::span<const double> row);

}  // namespace stackgate::evaluator::harness
