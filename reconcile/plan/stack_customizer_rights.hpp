// What the customizer may do in its namespace.
#pragma once
#include <string_view>
#include <vector>

#include "reconcile/plan/parts/workload.hpp"

namespace stackgate::reconcile::customizer {

/// By scheduler.type and scheduler.queueDialect: those of one scheduler and no other.
std::vector<parts::PolicyRule> rights(std::string_view scheduler, std::string_view dialect);

}  // namespace stackgate::reconcile::customizer
