#include "validators/rules/common.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/reserved.hpp"

namespace stackgate::validate {
namespace {

/// Workloads that others cannot do without and that nothing keeps from running twice: a second datastore would need
/// the claim of the first, which only ReadWriteMany allows.
bool wants_two(const Context& context, const Field& spec) {
  switch (context.request.kind) {
    case crds::Kind::stack_entitystore:
    case crds::Kind::stack_customizer:
      return true;
    case crds::Kind::stack_datastore:
      return spec["pvc"]["volumeAccessMode"].text() == "ReadWriteMany";
    default:
      return false;
  }
}

void check_replicas(Context& context, const Field& spec) {
  const Field replicas = spec["replicas"];
  if (spec.absent() || (replicas.absent() && spec.has_misspelt("replicas"))) return;
  if ((replicas.absent() || replicas.integer() == 1) && wants_two(context, spec))
    context.report(rule::single_replica, replicas,
                   replicas.absent()
                       ? "without replicas one pod runs, and the service is away whenever it or its node is"
                       : "with one replica the service is away whenever its pod or node is",
                   "write replicas: 2");
}

}  // namespace

void check_stack_common(Context& context, Field object) {
  const Field spec = object["spec"];
  check_image(context, spec["image"]);
  check_expose(context, spec["expose"]);
  check_resources(context, spec["resources"]);
  check_env(context, spec["env"]);
  check_reserved_env(context, spec);
  check_metrics(context, spec["metrics"]);
  check_otel(context, spec["otel"]);
  check_database(context, spec["databaseConfig"]);
  check_pod_knobs(context, spec);
  check_replicas(context, spec);
}

}  // namespace stackgate::validate
