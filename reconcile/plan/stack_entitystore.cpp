#include "reconcile/plan/kinds.hpp"
#include "reconcile/plan/stack_common.hpp"

namespace stackgate::reconcile {

void plan_stack_entitystore(const Planning& planning) {
  const parts::Scope scope(planning);
  parts::Workload workload = stack::begin(
      scope,
      {.startup_path = "/v1/health/live", .readiness_path = "/v1/health/ready", .liveness_path = "/v1/health/live"});
  stack::put_text(workload, "STACKGATE_DATASTORE_URL", scope.spec["datastore"]["endpoint"]);
  stack::sign_in_to_datastore(scope, workload);
  stack::finish(scope, std::move(workload));
}

}  // namespace stackgate::reconcile
