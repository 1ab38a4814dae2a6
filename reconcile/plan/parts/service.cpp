#include "reconcile/plan/parts/canonical.hpp"
#include "reconcile/plan/parts/workload.hpp"

namespace stackgate::reconcile::parts {
namespace {

constexpr std::int64_t metrics_service_port = 8080;
constexpr std::int64_t other_metrics_service_port = 9090;

void write_port(json::Writer& out, std::string_view name, std::int64_t port, std::string_view target) {
  out.object([&] {
    out.member("name", name);
    out.member("port", port);
    out.member("protocol", "TCP");
    out.member("targetPort", target);
  });
}

}  // namespace

void add_service(const Scope& scope, const ServiceShape& shape) {
  const Field service = scope.spec["expose"]["service"];
  const std::int64_t port = service["port"].integer().value_or(workload_port);
  add_child(scope, ChildType::service, scope.name, {}, [&](json::Writer& out) {
    out.object("spec", [&] {
      out.member("type", service["type"].text().value_or("ClusterIP"));
      pods::member_map(out, "selector", shape.selector.empty() ? selector_labels(scope) : shape.selector);
      out.array("ports", [&] {
        write_port(out, api_port_name, port, api_port_name);
        // A Service has each number once only, so that the scraped port cannot be 8000 too.
        if (scope.spec["metrics"]["enabled"].flag().value_or(false))
          write_port(out, "metrics", port == metrics_service_port ? other_metrics_service_port : metrics_service_port,
                     api_port_name);
        for (const pods::Port& each : shape.ports)
          if (each.name != api_port_name) write_port(out, each.name, each.number, each.name);
      });
    });
  });
}

}  // namespace stackgate::reconcile::parts
