#include "reconcile/plan/kinds.hpp"
#include "reconcile/plan/stack_common.hpp"

namespace stackgate::reconcile {

void plan_stack_entitystore(const Planning& planning) {
  const parts::Scope scope(planning);
  parts::Workload workload = stack::begin(scope, {.container = "entitystore", .image_name = "entitystore"});
  stack::put_text(workload, "STACKGATE_DATASTORE_URL", scope.spec["datastore"]["endpoint"]);
  stack::finish(scope, std::move(workload));
}

}  // namespace stackgate::reconcile
