#include <fmt/format.h>

#include "reconcile/plan/kinds.hpp"
#include "reconcile/plan/stack_common.hpp"
#include "reconcile/plan/stack_customizer_config.hpp"
#include "reconcile/plan/stack_customizer_rights.hpp"
#include "services/kit/base/fnv.hpp"

namespace stackgate::reconcile {
namespace customizer {

using parts::Field;
using parts::Scope;
using parts::Workload;
using pods::env_value;

constexpr int callback_port = 9009;

std::string mount_config_map(Workload& workload, std::string_view volume, std::string_view config_map) {
  std::string path = fmt::format("/etc/stackgate/{}", volume);
  workload.pod.volumes.push_back(pods::config_map_volume(volume, config_map));
  workload.main.mounts.push_back({.volume = std::string(volume), .path = path, .read_only = true});
  return path;
}

/// The ConfigMap that says how jobs run, mounted; pods restart when it changes.
void use_jobs_config(const Scope& scope, Workload& workload) {
  const std::string name = scope.name + "-jobs";
  const std::string config = jobs_config(scope);
  parts::add_child(scope, ChildType::config_map, name, {}, [&](json::Writer& out) {
    out.key("data");
    out.object([&] { out.member("config.json", std::string_view(config)); });
  });
  workload.pod.annotations.insert_or_assign("stackgate.dev/config", fmt::format("{:016x}", fnv1a(config)));
  workload.main.env.push_back(
      env_value("STACKGATE_CUSTOMIZER_CONFIG_FILE", mount_config_map(workload, "config", name) + "/config.json"));
}

void use_config_maps(const Scope& scope, Workload& workload) {
  if (const auto models = scope.spec["modelConfig"]["name"].text())
    workload.main.env.push_back(env_value("STACKGATE_MODEL_CONFIG_DIR", mount_config_map(workload, "models", *models)));
  if (const auto training = scope.spec["trainingConfig"]["configMap"]["name"].text())
    workload.main.env.push_back(
        env_value("STACKGATE_TRAINING_CONFIG_DIR", mount_config_map(workload, "training", *training)));
}

void use_tracker(Workload& workload, const Field& tracker) {
  if (tracker.absent()) return;
  const std::string folder =
      stack::mount_secret(workload, "tracker", tracker["secretName"].text().value_or(""),
                          {{std::string(tracker["apiKeyKey"].text().value_or("")), "api-key"},
                           {std::string(tracker["encryptionKey"].text().value_or("")), "encryption-key"}});
  workload.main.env.push_back(env_value("STACKGATE_TRACKER_API_KEY_FILE", folder + "/api-key"));
  workload.main.env.push_back(env_value("STACKGATE_TRACKER_ENCRYPTION_KEY_FILE", folder + "/encryption-key"));
  stack::put_text(workload, "STACKGATE_TRACKER_ENTITY", tracker["entity"]);
  stack::put_text(workload, "STACKGATE_TRACKER_PROJECT", tracker["projectName"]);
}

/// Training pods report their progress to a port of its own, which no Ingress leads to.
void use_callbacks(const Scope& scope, Workload& workload) {
  // A Service has each number once.
  const bool taken = scope.spec["expose"]["service"]["port"].integer() == callback_port;
  const int port = taken ? callback_port + 1 : callback_port;
  workload.main.ports.push_back({"callback", port});
  workload.main.env.push_back(env_value("STACKGATE_CALLBACK_LISTEN", fmt::format("0.0.0.0:{}", port)));
  workload.main.env.push_back(env_value(
      "STACKGATE_CALLBACK_URL", fmt::format("http://{}.{}.svc:{}", scope.name, scope.planning.resource.ns, port)));
}

}  // namespace customizer

void plan_stack_customizer(const Planning& planning) {
  using namespace customizer;
  const Scope scope(planning);
  const Field& spec = scope.spec;
  Workload workload = stack::begin(scope, {.container = "customizer",
                                           .image_name = "customizer",
                                           .startup_path = "/v1/health/ready",
                                           .readiness_path = "/v1/health/ready",
                                           .liveness_path = "/v1/health/live"});
  workload.main.env.push_back(pods::env_from_field("STACKGATE_NAMESPACE", "metadata.namespace"));
  stack::put_text(workload, "STACKGATE_DATASTORE_URL", spec["datastore"]["endpoint"]);
  stack::put_text(workload, "STACKGATE_ENTITYSTORE_URL", spec["entitystore"]["endpoint"]);
  stack::put_text(workload, "STACKGATE_TRACKING_URL", spec["trackingServer"]["endpoint"]);
  use_callbacks(scope, workload);
  use_jobs_config(scope, workload);
  use_config_maps(scope, workload);
  use_tracker(workload, spec["experimentTracker"]);
  workload.rights = rights(spec["scheduler"]["type"].text().value_or("gang"),
                           spec["scheduler"]["queueDialect"].text().value_or("runai"));
  parts::add_claim(scope, spec["trainingConfig"]["modelPVC"]);
  stack::finish(scope, std::move(workload));
}

}  // namespace stackgate::reconcile
