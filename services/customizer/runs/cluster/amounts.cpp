#include "services/customizer/runs/cluster/amounts.hpp"

#include <array>

#include <fmt/format.h>

namespace stackgate::customizer {

using validate::grammar::Quantity;

std::int64_t thousandths(const Quantity& amount) {
  Quantity thousand;
  for (int i = 0; i < 1000; ++i) thousand += amount;
  return thousand.rounded_up();
}

std::string amount_text(std::string_view name, const Quantity& amount) {
  if (name.ends_with("memory") || name.ends_with("storage")) {
    constexpr std::array<std::string_view, 4> units = {"", "Ki", "Mi", "Gi"};
    std::int64_t number = amount.rounded_up();
    std::size_t unit = 0;
    for (; unit + 1 < units.size() && number != 0 && number % 1024 == 0; ++unit) number /= 1024;
    return fmt::format("{}{}", number, units.at(unit));
  }
  if (const auto whole = amount.to_integer()) return std::to_string(*whole);
  return fmt::format("{}m", thousandths(amount));
}

}  // namespace stackgate::customizer
