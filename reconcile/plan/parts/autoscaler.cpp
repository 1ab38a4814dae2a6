#include "reconcile/plan/parts/canonical.hpp"
#include "reconcile/plan/parts/workload.hpp"

namespace stackgate::reconcile::parts {
namespace {

constexpr int default_cpu_percent = 80;  // as Kubernetes has it

/// API servers that store autoscaling/v1 keep this one in a field of its own and give it back as the last. The order
/// means nothing: the largest of all answers counts.
bool is_cpu_utilization(const Field& metric) {
  const Field resource = metric["resource"];
  return metric["type"].text() == "Resource" && resource["name"].text() == "cpu" &&
         resource["target"]["averageUtilization"].present();
}

void write_default_metric(json::Writer& out) {
  out.object([&] {
    out.member("type", "Resource");
    out.object("resource", [&] {
      out.member("name", "cpu");
      out.object("target", [&] {
        out.member("type", "Utilization");
        out.member("averageUtilization", default_cpu_percent);
      });
    });
  });
}

}  // namespace

void add_autoscaler(const Scope& scope) {
  const Field scale = scope.spec["scale"];
  if (!is_scaled(scope)) return;
  const ChildHead head{.api_version = scope.planning.observed.served.autoscaling};
  add_child(scope, ChildType::horizontal_pod_autoscaler, scope.name, head, [&](json::Writer& out) {
    out.object("spec", [&] {
      out.object("scaleTargetRef", [&] {
        out.member("apiVersion", info(ChildType::deployment).api_version);
        out.member("kind", info(ChildType::deployment).kind);
        out.member("name", std::string_view(scope.name));
      });
      const std::int64_t least = scale["minReplicas"].integer().value_or(1);
      out.member("minReplicas", least);
      out.member("maxReplicas", scale["maxReplicas"].integer().value_or(least));
      out.array("metrics", [&] {
        if (scale["metrics"].size() == 0) write_default_metric(out);
        for (const bool last : {false, true})
          for (const Field& metric : scale["metrics"].items())
            if (is_cpu_utilization(metric) == last) write_canonical(out, metric);
      });
    });
  });
}

}  // namespace stackgate::reconcile::parts
