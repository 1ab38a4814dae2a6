// Grammars as rules: one text field, one grammar, one finding.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "services/kit/grammar/problem.hpp"
#include "services/kit/grammar/quantity.hpp"
#include "validators/rules/context.hpp"

namespace stackgate::validate {

using TextGrammar = std::optional<grammar::Problem> (*)(std::string_view);

/// Reports what `grammar` says about the written text of `field`.
void check_text(Context& context, const Rule& rule, const Field& field, TextGrammar grammar);

/// The amount that a quantity field holds (a string, or a whole number); nothing when it holds none.
std::optional<grammar::Quantity> quantity_of(const Field& field);

/// The same, and what is wrong with it is reported: nothing then, and for a negative amount.
std::optional<grammar::Quantity> checked_quantity(Context& context, const Field& quantity);

/// Keys and values of a map of labels.
void check_labels(Context& context, const Field& labels);
/// Keys of a map of annotations, and that all of it stays under 256 KiB.
void check_annotations(Context& context, const Field& annotations);

// --- Amounts that can be read but not be meant: a unit that is missing or slipped (amounts.cpp) ---

enum class Bytes : std::uint8_t { of_memory, of_claim };

/// Above 0: a fraction of a byte, less than a mebibyte, or more than there is. `example` is what one may have meant:
/// "16Gi".
void check_bytes(Context& context, const Field& field, const grammar::Quantity& amount, Bytes kind,
                 std::string_view example);
void check_cpus(Context& context, const Field& field, const grammar::Quantity& amount);
/// The field's key is the GPU's name.
void check_gpu_number(Context& context, const Field& field, const grammar::Quantity& amount);

}  // namespace stackgate::validate
