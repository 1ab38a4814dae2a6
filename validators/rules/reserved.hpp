// Names that are taken: variables that the operator sets itself (a second one of the same name would silently win or
// lose), and objects that Kubernetes keeps.
#pragma once
#include <string_view>

#include "validators/rules/context.hpp"

namespace stackgate::validate {

/// Reports those of spec.env that the operator sets for this kind of resource; `spec` is also that of a pipeline's
/// entry. The table is in reserved.cpp.
void check_reserved_env(Context& context, const Field& spec);
/// The same for one name, that of a variable which is set beside spec.env.
void check_reserved_variable(Context& context, const Field& name, const Field& spec);

/// `name` becomes that of a Service in namespace `ns` and, unless `spec` names a ServiceAccount, of one of those.
void check_reserved_names(Context& context, const Field& name, const Field& spec, std::string_view ns);

}  // namespace stackgate::validate
