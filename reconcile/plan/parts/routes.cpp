#include "reconcile/plan/parts/canonical.hpp"
#include "reconcile/plan/parts/scope.hpp"
#include "reconcile/plan/parts/workload.hpp"

namespace stackgate::reconcile::parts {
namespace {

void write_ingress_rule(const Scope& scope, json::Writer& out, const Field& ingress) {
  out.object([&] {
    pods::member_text(out, "host", ingress["host"].text().value_or(""));
    out.object("http", [&] {
      out.array("paths", [&] {
        out.object([&] {
          const std::string_view path = ingress["path"].text().value_or("/");
          out.member("path", path.empty() ? "/" : path);
          out.member("pathType", "Prefix");
          out.object("backend", [&] {
            out.object("service", [&] {
              out.member("name", std::string_view(scope.name));
              out.object("port", [&] { out.member("name", api_port_name); });
            });
          });
        });
      });
    });
  });
}

void write_ingress_tls(json::Writer& out, const Field& ingress) {
  const auto secret = ingress["tlsSecretName"].text();
  if (!secret) return;
  out.array("tls", [&] {
    out.object([&] {
      if (const auto host = ingress["host"].text(); host && !host->empty()) {
        out.array("hosts", [&] { out.value(*host); });
      }
      out.member("secretName", *secret);
    });
  });
}

void add_ingress(const Scope& scope, const Field& ingress) {
  add_child(scope, ChildType::ingress, scope.name, {.annotations = read_map(ingress["annotations"])},
            [&](json::Writer& out) {
              out.object("spec", [&] {
                pods::member_text(out, "ingressClassName", ingress["className"].text().value_or(""));
                out.array("rules", [&] { write_ingress_rule(scope, out, ingress); });
                write_ingress_tls(out, ingress);
              });
            });
}

void write_parent(json::Writer& out, const Field& parent) {
  out.object([&] {
    out.member("group", "gateway.networking.k8s.io");
    out.member("kind", "Gateway");
    members_canonical(out, parent, {"name", "namespace", "sectionName"});
  });
}

void write_route_rule(const Scope& scope, json::Writer& out) {
  out.object([&] {
    out.array("matches", [&] {
      out.object([&] {
        out.object("path", [&] {
          out.member("type", "PathPrefix");
          out.member("value", "/");
        });
      });
    });
    out.array("backendRefs", [&] {
      out.object([&] {
        out.member("kind", "Service");
        out.member("name", std::string_view(scope.name));
        out.member("port", scope.spec["expose"]["service"]["port"].integer().value_or(workload_port));
        out.member("weight", 1);
      });
    });
  });
}

void add_http_route(const Scope& scope, const Field& route) {
  if (!scope.planning.observed.served.http_routes)
    return note_missing_api(scope, "expose.httpRoute", ChildType::http_route, "the Gateway API");
  add_child(scope, ChildType::http_route, scope.name, {}, [&](json::Writer& out) {
    out.object("spec", [&] {
      if (route["parentRefs"].size() > 0) {
        out.array("parentRefs", [&] {
          for (const Field& parent : route["parentRefs"].items()) write_parent(out, parent);
        });
      }
      member_canonical(out, "hostnames", route["hostnames"]);
      out.array("rules", [&] { write_route_rule(scope, out); });
    });
  });
}

}  // namespace

void add_routes(const Scope& scope) {
  const Field expose = scope.spec["expose"];
  if (expose["ingress"]["enabled"].flag().value_or(false)) add_ingress(scope, expose["ingress"]);
  if (expose["httpRoute"]["enabled"].flag().value_or(false)) add_http_route(scope, expose["httpRoute"]);
}

}  // namespace stackgate::reconcile::parts
