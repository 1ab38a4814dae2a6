// What holds of every plan, whatever the resource: what the API server would refuse otherwise, or what would never
// settle.
#pragma once
#include <string>
#include <vector>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {

/// One line per fault, with the child's kind and name; empty when all is well.
std::vector<std::string> faults_of(const Planned& planned);

}  // namespace stackgate::reconcile::tests
