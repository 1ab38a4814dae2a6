#include "services/evaluator/suite/mean_scores.hpp"

#include <cmath>

#include "services/evaluator/metrics/statistics.hpp"

namespace stackgate::evaluator {

std::vector<double> column_of(std::span<const std::vector<double>> values, std::size_t column) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const std::vector<double>& each : values) out.push_back(column < each.size() ? each[column] : no_value);
  return out;
}

Spread spread_of(std::span<const double> values) {
  const Mean mean = mean_of(values);
  const auto count = static_cast<double>(mean.count);
  Spread out{.sum = mean.value * count, .mean = mean.value, .deviation = mean.error * std::sqrt(count)};
  for (const double each : values) {
    out.least = std::fmin(out.least, each);
    out.most = std::fmax(out.most, each);
  }
  return out;
}

Score mean_score(std::string metric, std::string name, std::span<const double> values) {
  const Mean mean = mean_of(values);
  return {.metric = std::move(metric),
          .name = std::move(name),
          .value = mean.value,
          .error = mean.error,
          .count = mean.count,
          .nan_count = mean.nan_count,
          .spread = spread_of(values)};
}

}  // namespace stackgate::evaluator
