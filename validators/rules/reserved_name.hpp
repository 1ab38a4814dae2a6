// Names under which Kubernetes keeps objects of its own.
#pragma once
#include <string_view>

#include "validators/rules/context.hpp"

namespace stackgate::validate {

/// `name` becomes that of a Service in namespace `ns` and, unless `spec` names a ServiceAccount, of one of those.
void check_reserved_names(Context& context, const Field& name, const Field& spec, std::string_view ns);

}  // namespace stackgate::validate
