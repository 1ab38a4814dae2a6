// Means of the columns that samples add. Pure.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// One number of each sample; no_value of those that have none.
std::vector<double> column_of(std::span<const std::vector<double>> values, std::size_t column);

/// Of those that are numbers.
Spread spread_of(std::span<const double> values);

/// With its standard error; values that are none are counted beside it.
Score mean_score(std::string metric, std::string name, std::span<const double> values);

}  // namespace stackgate::evaluator
