// Variables that the operator sets itself: a second one of the same name would silently win or lose.
#pragma once
#include "validators/rules/context.hpp"

namespace stackgate::validate {

/// Reports those of spec.env that the operator sets for this kind of resource; `spec` is also that of a pipeline's
/// entry. The table is in reserved_env.cpp.
void check_reserved_env(Context& context, const Field& spec);
/// The same for one name, that of a variable which is set beside spec.env.
void check_reserved_name(Context& context, const Field& name, const Field& spec);

}  // namespace stackgate::validate
