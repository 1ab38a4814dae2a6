// The file that tells the customizer how its jobs run. Its members stand in a table in README.md.
#pragma once
#include <string>

#include "reconcile/plan/parts/scope.hpp"

namespace stackgate::reconcile::customizer {

/// Compact JSON; what is not set is left out. Pure.
std::string jobs_config(const parts::Scope& scope);

}  // namespace stackgate::reconcile::customizer
