// Where pods may run.
#pragma once
#include "validators/rules/context.hpp"

namespace stackgate::validate {

/// {matchLabels, matchExpressions}
void check_label_selector(Context& context, const Field& selector);
void check_affinity(Context& context, const Field& affinity);

}  // namespace stackgate::validate
