// The file by which the customizer knows how its jobs run. Its members stand in a table in CONTRACT.md.
#pragma once
#include <string>

#include "reconcile/plan/parts/scope.hpp"

namespace stackgate::reconcile::customizer {

/// Compact JSON; what is not set is left out. Pure.
std::string jobs_config(const parts::Scope& scope);

}  // namespace stackgate::reconcile::customizer
