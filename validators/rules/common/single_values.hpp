// Grammars as rules: one text field, one grammar, one finding.
#pragma once
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

}  // namespace stackgate::validate
