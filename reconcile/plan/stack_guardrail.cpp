#include "reconcile/plan/kinds.hpp"
#include "reconcile/plan/stack_common.hpp"

namespace stackgate::reconcile {
namespace guardrail {

constexpr std::string_view volume = "config-store";
constexpr std::string_view folder = "/config-store";

/// Rails are read only, whoever keeps them.
void mount_rails(const parts::Scope& scope, parts::Workload& workload) {
  const parts::Field store = scope.spec["configStore"];
  if (store["pvc"].present())
    parts::mount_claim(scope, workload, store["pvc"], volume, folder, true);
  else
    parts::mount(workload, pods::config_map_volume(volume, store["configMap"]["name"].text().value_or("")), folder);
  workload.main.env.push_back(pods::env_value("STACKGATE_CONFIG_STORE", folder));
}

}  // namespace guardrail

void plan_stack_guardrail(const Planning& planning) {
  const parts::Scope scope(planning);
  parts::Workload workload = stack::begin(
      scope, {.startup_path = "/v1/health", .readiness_path = "/v1/health", .liveness_path = "/v1/health"});
  guardrail::mount_rails(scope, workload);
  const parts::Field endpoint = scope.spec["nimEndpoint"];
  stack::put_text(workload, "STACKGATE_INFERENCE_URL", endpoint["baseURL"]);
  if (const auto secret = endpoint["apiKeySecret"].text())
    workload.main.env.push_back(
        pods::env_from_secret("INFERENCE_ENDPOINT_API_KEY", *secret, endpoint["apiKeyKey"].text().value_or("")));
  const parts::Field claim = scope.spec["configStore"]["pvc"];
  parts::add_claim(scope, claim);
  stack::finish(scope, std::move(workload), {.mounted = claim.present() ? std::optional(claim) : std::nullopt});
}

}  // namespace stackgate::reconcile
