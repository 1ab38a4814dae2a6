// Children whose API the cluster may not have.
#pragma once
#include <string_view>

#include "reconcile/plan/parts/scope.hpp"

namespace stackgate::reconcile::parts {

inline constexpr std::string_view optional_apis_condition = "OptionalAPIs";

/// Reports in the condition OptionalAPIs that `field` asks for a child that cannot be made until `product`
/// ("the Prometheus Operator") is installed.
void note_missing_api(const Scope& scope, std::string_view field, ChildType type, std::string_view product);

}  // namespace stackgate::reconcile::parts
