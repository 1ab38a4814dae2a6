#include "reconcile/plan/inference_service.hpp"

#include "reconcile/plan/kinds.hpp"
#include "reconcile/plan/parts/outcome.hpp"

namespace stackgate::reconcile {
namespace inference_service {

constexpr std::string_view shared_memory_path = "/dev/shm";
constexpr std::string_view registry_key = "REGISTRY_API_KEY";
constexpr int startup_period = 10, startup_failures = 120;  // the specification's 20 minutes

void add_shared_memory(const parts::Scope& scope, parts::Workload& workload) {
  const auto size = scope.spec["storage"]["sharedMemorySizeLimit"].text();
  parts::mount(workload, pods::memory_volume("shm", size.value_or("")), shared_memory_path, false);
}

void add_cache(const parts::Scope& scope, parts::Workload& workload) {
  const Field cache = scope.spec["storage"]["nimCache"];
  if (cache["name"].absent()) return;
  const CacheFacts& facts = scope.planning.observed.cache;
  parts::mount(workload, pods::claim_volume(cache_volume, facts.claim), cache_path, true, facts.sub_path);
  workload.main.env.push_back(pods::env_value("INF_CACHE_PATH", cache_path));
  parts::put_text(workload.main, "INF_MODEL_PROFILE", cache["profile"]);
}

void add_parallelism(const parts::Scope& scope, parts::Workload& workload) {
  const auto put = [&](std::string_view name, const Field& field) {
    if (const auto parts_of_model = field.integer())
      workload.main.env.push_back(pods::env_value(name, std::to_string(*parts_of_model)));
  };
  put("INF_TENSOR_PARALLELISM", scope.spec["multiNode"]["tensorParallelism"]);
  put("INF_PIPELINE_PARALLELISM", scope.spec["multiNode"]["pipelineParallelism"]);
}

parts::Workload read_server(const parts::Scope& scope) {
  parts::Workload out = parts::read_workload(scope, {.container = "server",
                                                     .startup_path = "/v1/health/ready",
                                                     .readiness_path = "/v1/health/ready",
                                                     .liveness_path = "/v1/health/live",
                                                     .startup_period = startup_period,
                                                     .startup_failures = startup_failures});
  out.main.read_only_root = false;  // servers of any make: many compile kernels beside their code
  out.metrics_path = "/v1/metrics";
  out.pod.grace_seconds = 60;  // a long answer may end
  out.main.env.push_back(pods::env_value("STACKGATE_LISTEN", "0.0.0.0:8000"));
  if (const auto secret = scope.spec["authSecret"].text())
    out.main.env.push_back(pods::env_from_secret(registry_key, *secret, registry_key));
  add_cache(scope, out);
  add_parallelism(scope, out);
  add_shared_memory(scope, out);
  parts::append_user_env(scope, out);
  return out;
}

/// Nothing when the service needs no cache, or its cache is ready.
std::optional<Problem> cache_problem(const parts::Scope& scope) {
  const auto name = scope.spec["storage"]["nimCache"]["name"].text();
  if (!name) return std::nullopt;
  const CacheFacts& facts = scope.planning.observed.cache;
  const std::string cache = "the InferenceCache \"" + std::string(*name) + "\"";
  if (!facts.exists) return Problem{"CacheNotFound", cache + " does not exist; create it", false};
  const std::string why = facts.message.empty() ? std::string() : ": " + facts.message;
  if (facts.state == to_string(State::failed)) return Problem{"CacheFailed", cache + " has failed" + why, true};
  if (facts.state != to_string(State::ready)) return Problem{"CacheNotReady", cache + " is not ready yet" + why, false};
  return std::nullopt;
}

/// Nothing new starts without its model; what runs already is left as it is.
void hold_back(const parts::Scope& scope, const parts::Outcome& outcome) {
  auto& children = scope.planning.plan.children;
  if (parts::own_live(scope, outcome.type, outcome.name.empty() ? scope.name : outcome.name) != nullptr) {
    for (DesiredChild& child : children)
      if (child.type == outcome.type) child.keep = true;
    return;
  }
  std::erase_if(children, [&](const DesiredChild& child) {
    return child.type == outcome.type || child.type == ChildType::horizontal_pod_autoscaler;
  });
}

}  // namespace inference_service

void plan_inference_service(const Planning& planning) {
  using namespace inference_service;
  const parts::Scope scope(planning);
  const parts::Workload server = read_server(scope);
  parts::Outcome outcome;
  if (parts::is_scaled(scope))
    outcome.wanted.reset();
  else
    outcome.wanted = server.replicas;
  if (has_nodes(scope)) {
    parts::add_access(scope, server);
    parts::add_service(scope, {.selector = leader_labels(scope)});
    parts::add_routes(scope);
    parts::add_service_monitor(scope, server.metrics_path);
    add_nodes(scope, server, outcome);
  } else {
    parts::add_workload(scope, server);
  }
  if (auto problem = cache_problem(scope)) {
    outcome.blockers.push_back(std::move(*problem));
    hold_back(scope, outcome);
  }
  parts::conclude(scope, std::move(outcome));
}

}  // namespace stackgate::reconcile
