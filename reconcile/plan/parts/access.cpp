#include "reconcile/plan/parts/workload.hpp"

namespace stackgate::reconcile::parts {

void add_rights(const Scope& scope, std::string_view name, std::string_view service_account,
                const std::vector<PolicyRule>& rights) {
  add_child(scope, ChildType::role, std::string(name), {}, [&](json::Writer& out) {
    if (rights.empty()) return;
    out.array("rules", [&] {
      for (const PolicyRule& rule : rights) {
        out.object([&] {
          pods::member_list(out, "apiGroups", rule.groups);
          pods::member_list(out, "resources", rule.resources);
          pods::member_list(out, "verbs", rule.verbs);
          pods::member_list(out, "resourceNames", rule.names);
        });
      }
    });
  });
  add_child(scope, ChildType::role_binding, std::string(name), {}, [&](json::Writer& out) {
    out.array("subjects", [&] {
      out.object([&] {
        out.member("kind", "ServiceAccount");
        out.member("name", service_account);
        out.member("namespace", scope.planning.resource.ns);
      });
    });
    out.object("roleRef", [&] {
      out.member("apiGroup", "rbac.authorization.k8s.io");
      out.member("kind", "Role");
      out.member("name", name);
    });
  });
}

void add_access(const Scope& scope, const Workload& workload) {
  if (scope.spec["serviceAccountName"].present()) return;
  add_child(scope, ChildType::service_account, scope.name, {}, [&](json::Writer& out) {
    if (workload.rights.empty() && !workload.token) out.member("automountServiceAccountToken", false);
  });
  add_rights(scope, scope.name, scope.name, workload.rights);
}

}  // namespace stackgate::reconcile::parts
