#include "reconcile/plan/parts/workload.hpp"

#include "reconcile/plan/parts/canonical.hpp"
#include "reconcile/plan/parts/container.hpp"

namespace stackgate::reconcile::parts {
namespace {

bool is_single_node(std::string_view access_mode) {
  return access_mode == "ReadWriteOnce" || access_mode == "ReadWriteOncePod";
}

void read_probes(const Scope& scope, const WorkloadDefaults& defaults, pods::Container& main) {
  const auto probe = [&scope](std::string_view key, pods::Probe with) {
    return read_probe(scope.spec[key]["probe"], std::move(with));
  };
  main.startup = probe("startupProbe", {.path = std::string(defaults.startup_path),
                                        .period = defaults.startup_period,
                                        .timeout = 5,
                                        .failures = defaults.startup_failures});
  main.readiness = probe("readinessProbe", {.path = std::string(defaults.readiness_path), .timeout = 5});
  main.liveness = probe("livenessProbe", {.path = std::string(defaults.liveness_path), .timeout = 5, .failures = 6});
}

}  // namespace

Workload read_workload(const Scope& scope, const WorkloadDefaults& defaults) {
  const Field& spec = scope.spec;
  Workload out;
  out.main.name = defaults.container;
  out.main.image = read_image(spec["image"], own_image(scope, defaults.image_name));
  out.main.pull_policy = spec["image"]["pullPolicy"].text().value_or("");
  out.main.resources = read_resources(spec["resources"]);
  out.main.ports = {{std::string(api_port_name), workload_port}};
  read_probes(scope, defaults, out.main);
  for (const Field& secret : spec["image"]["pullSecrets"].items())
    if (const auto name = secret.text()) out.pod.pull_secrets.emplace_back(*name);
  out.pod.labels = read_map(spec["labels"]);
  out.pod.annotations = read_map(spec["annotations"]);
  out.pod.service_account = spec["serviceAccountName"].text().value_or(scope.name);
  out.replicas = spec["replicas"].integer().value_or(1);
  if (asks_for_gpus(spec["resources"], scope.planning.settings)) out.rollout = Rollout::in_place;
  return out;
}

void append_user_env(const Scope& scope, Workload& workload) {
  for (pods::EnvVar& each : read_env(scope.spec["env"])) workload.main.env.push_back(std::move(each));
}

bool is_scaled(const Scope& scope) { return scope.spec["scale"]["enabled"].flag().value_or(false); }

void mount(Workload& workload, pods::Volume volume, std::string_view path, bool read_only, std::string_view sub_path) {
  workload.main.mounts.push_back({volume.name, std::string(path), std::string(sub_path), read_only});
  workload.pod.volumes.push_back(std::move(volume));
}

void mount_claim(const Scope& scope, Workload& workload, const Field& pvc, std::string_view volume,
                 std::string_view path, bool read_only) {
  mount(workload, pods::claim_volume(volume, claim_name(scope, pvc), read_only), path, read_only,
        pvc["subPath"].text().value_or(""));
  if (is_single_node(pvc["volumeAccessMode"].text().value_or("")) && workload.rollout == Rollout::surge)
    workload.rollout = Rollout::in_place;
}

void add_workload(const Scope& scope, const Workload& workload) {
  add_access(scope, workload);
  add_service(scope, {.ports = workload.main.ports});
  add_deployment(scope, workload);
  add_routes(scope);
  add_autoscaler(scope);
  add_service_monitor(scope, workload.metrics_path);
}

}  // namespace stackgate::reconcile::parts
