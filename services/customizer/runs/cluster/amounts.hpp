// Amounts of resources as Kubernetes writes them, for what people read. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "services/kit/grammar/quantity.hpp"

namespace stackgate::customizer {

/// In units of 1m, rounded up and held within 64 bits.
std::int64_t thousandths(const validate::grammar::Quantity& amount);

/// `name` is that of a resource or of a quota of it: what ends in "memory" or "storage" is shown in Ki, Mi and Gi.
std::string amount_text(std::string_view name, const validate::grammar::Quantity& amount);

}  // namespace stackgate::customizer
