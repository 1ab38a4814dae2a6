// Amounts that can be read but not be meant: a unit that is missing or slipped.
#pragma once
#include <cstdint>
#include <string_view>

#include "services/kit/grammar/quantity.hpp"
#include "validators/rules/context.hpp"

namespace stackgate::validate {

enum class Bytes : std::uint8_t { of_memory, of_claim };

/// Above 0: a fraction of a byte, less than a mebibyte, or more than there is. `example` is what one may have meant:
/// "16Gi".
void check_bytes(Context& context, const Field& field, const grammar::Quantity& amount, Bytes kind,
                 std::string_view example);
void check_cpus(Context& context, const Field& field, const grammar::Quantity& amount);
/// The field's key is the GPU's name.
void check_gpu_number(Context& context, const Field& field, const grammar::Quantity& amount);

}  // namespace stackgate::validate
