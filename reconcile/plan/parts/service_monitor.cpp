#include "reconcile/plan/parts/canonical.hpp"
#include "reconcile/plan/parts/scope.hpp"
#include "reconcile/plan/parts/workload.hpp"

namespace stackgate::reconcile::parts {

void add_service_monitor(const Scope& scope, std::string_view metrics_path) {
  const Field metrics = scope.spec["metrics"];
  if (!metrics["enabled"].flag().value_or(false)) return;
  if (!scope.planning.observed.served.service_monitors)
    return note_missing_api(scope, "metrics", ChildType::service_monitor, "the Prometheus Operator");
  const Field monitor = metrics["serviceMonitor"];
  const ChildHead head{.labels = read_map(monitor["additionalLabels"]),
                       .annotations = read_map(monitor["annotations"])};
  add_child(scope, ChildType::service_monitor, scope.name, head, [&](json::Writer& out) {
    out.object("spec", [&] {
      out.object("selector", [&] { pods::member_map(out, "matchLabels", {{"app", scope.name}}); });
      out.array("endpoints", [&] {
        out.object([&] {
          out.member("port", "metrics");
          out.member("path", metrics_path);
          members_canonical(out, monitor, {"interval", "scrapeTimeout"});
        });
      });
    });
  });
}

}  // namespace stackgate::reconcile::parts
