#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/charts/charts.hpp"

namespace stackgate::charts {

std::vector<double> ticks(double low, double high, int wanted) {
  if (!std::isfinite(low) || !std::isfinite(high) || high - low <= 0 || !std::isfinite(high - low)) {
    low = std::isfinite(low) && low != 0 ? std::min(low, 0.0) : 0;
    high = low < 0 ? 0 : 1;
  }
  const double rough = (high - low) / std::max(wanted - 1, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double times : {5.0, 2.0, 1.0})
    if (times * power >= rough * (1 - 1e-9)) step = times * power;
  std::vector<double> out;
  // Whole numbers times the step: adding it up would drift.
  const double first = std::floor(low / step + 1e-9), last = std::ceil(high / step - 1e-9);
  constexpr int most = 100;
  for (int i = 0; i <= most && first + i <= last; ++i) out.push_back((first + i) * step);
  return out;
}

std::string number_words(double value) {
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  return fmt::format("{:.4g}", value);
}

}  // namespace stackgate::charts
