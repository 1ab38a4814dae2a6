// Kubernetes resource quantities: "500m", "10Gi", "1.5", "2e3".
// Source: k8s.io/apimachinery/pkg/api/resource, the grammar at type Quantity and ParseQuantity().
#pragma once
#include <compare>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/grammar/problem.hpp"

namespace stackgate::validate::grammar {

/// An exact amount in units of 1n. As in Kubernetes a smaller fraction is rounded away from zero, and an amount with a
/// binary suffix is capped at 2^63-1. Amounts beyond ±1.7e29 are held as that bound.
class Quantity {
 public:
  Quantity() = default;  // 0
  static Quantity from_integer(std::int64_t value);

  /// -1, 0 or 1.
  int sign() const { return nano_ > 0 ? 1 : nano_ < 0 ? -1 : 0; }
  bool is_integer() const;
  /// The amount when it is whole and fits 64 bits.
  std::optional<std::int64_t> to_integer() const;
  /// Rounded away from zero and held within 64 bits: what Kubernetes' Value() gives.
  std::int64_t rounded_up() const;

  friend auto operator<=>(const Quantity& a, const Quantity& b) { return a.nano_ <=> b.nano_; }
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nano_ == b.nano_; }
  Quantity& operator+=(const Quantity& other);

  /// The amount in units of 1n, in decimal; empty for one that is held at the bound.
  std::string nano_text() const;

 private:
  friend std::expected<Quantity, Problem> parse_quantity(std::string_view text);
  __extension__ using Amount = __int128;
  Amount nano_ = 0;
};

/// Stricter than the API server in one point: at least one digit is needed ("+" and "." are zero to it).
std::expected<Quantity, Problem> parse_quantity(std::string_view text);

}  // namespace stackgate::validate::grammar
