// Whole numbers from one bound to another, digit by digit.
#pragma once
#include <cstdint>

#include "services/inference/constrain/grammar.hpp"

namespace stackgate::inference {

inline constexpr std::int64_t largest_integer = 999'999'999'999'999;

/// Numbers from `least` to `most`, which lie within ±largest_integer.
void add_integers(GrammarBuilder& builder, NodeId from, std::int64_t least, std::int64_t most, NodeId to);

}  // namespace stackgate::inference
