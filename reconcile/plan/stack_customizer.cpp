#include <algorithm>

#include <fmt/format.h>

#include "reconcile/plan/kinds.hpp"
#include "reconcile/plan/parts/canonical.hpp"
#include "reconcile/plan/stack_common.hpp"
#include "services/kit/base/fnv.hpp"

namespace stackgate::reconcile {
namespace customizer {

using parts::Field;
using parts::Scope;
using parts::Workload;
using pods::env_value;

constexpr int callback_port = 9009;

void put(json::Writer& out, std::string_view key, const Field& text) {
  pods::member_text(out, key, text.text().value_or(""));
}

void put_number(json::Writer& out, std::string_view key, const Field& number) {
  if (const auto value = number.integer()) out.member(key, *value);
}

void write_owner(json::Writer& out, const Resource& resource) {
  out.object("owner", [&] {
    out.member("apiVersion", crds::api_group_version);
    out.member("kind", crds::info(resource.kind).name);
    out.member("name", resource.name);
    out.member("uid", resource.uid);
  });
}

/// A queue has no meaning for a gang, and none is passed on: the gate has said so.
void write_scheduler(json::Writer& out, const Field& spec) {
  const Field scheduler = spec["scheduler"];
  const std::string_view type = scheduler["type"].text().value_or("gang");
  out.object("scheduler", [&] {
    out.member("type", type);
    if (type != "queue") return;
    out.member("dialect", scheduler["queueDialect"].text().value_or("runai"));
    put(out, "queue", spec["trainingConfig"]["queueName"]);
  });
}

void write_tools(const Scope& scope, json::Writer& out) {
  out.object("datastoreTools", [&] {
    pods::member_text(out, "image", stack::image_or_own(scope, scope.spec["datastoreTools"]["image"], "puller"));
    const std::vector<pods::EnvVar> credentials = stack::datastore_credentials_of(scope);
    // What is written as a text may be a secret, and a ConfigMap is no place for one.
    const auto is_reference = [](const pods::EnvVar& each) { return each.body.contains("\"valueFrom\""); };
    if (credentials.empty() || !std::ranges::all_of(credentials, is_reference)) return;
    out.array("env", [&] {
      for (const pods::EnvVar& each : credentials) out.raw(each.body);
    });
  });
}

void write_downloads(const Scope& scope, json::Writer& out, const Field& downloads) {
  out.object("modelDownload", [&] {
    pods::member_text(out, "image", stack::image_or_own(scope, downloads["image"], "puller"));
    if (const Field secret = downloads["registryApiSecret"]; secret.present()) {
      out.object("apiKey", [&] {
        put(out, "secret", secret["name"]);
        put(out, "key", secret["key"]);
      });
    }
    parts::member_canonical(out, "securityContext", downloads["securityContext"]);
    put_number(out, "ttlSecondsAfterFinished", downloads["ttlSecondsAfterFinished"]);
    put_number(out, "pollIntervalSeconds", downloads["pollIntervalSeconds"]);
  });
}

void write_tracker(json::Writer& out, const Field& tracker) {
  if (tracker.absent()) return;
  out.object("tracker", [&] {
    put(out, "secret", tracker["secretName"]);
    put(out, "apiKeyKey", tracker["apiKeyKey"]);
    put(out, "encryptionKeyKey", tracker["encryptionKey"]);
    put(out, "entity", tracker["entity"]);
    put(out, "project", tracker["projectName"]);
  });
}

void write_training(const Scope& scope, json::Writer& out, const Field& training) {
  out.object("training", [&] {
    pods::member_text(out, "image", parts::read_image(training["image"], parts::own_image(scope, "trainer")));
    parts::member_canonical(out, "env", training["env"]);
    parts::member_canonical(out, "networkEnv", training["networkConfig"]);
    put_number(out, "timeoutSeconds", training["timeout"]);
    put_number(out, "ttlSecondsAfterFinished", training["ttlSecondsAfterFinished"]);
    parts::member_canonical(out, "tolerations", training["tolerations"]);
  });
}

void write_claims(const Scope& scope, json::Writer& out, const Field& training) {
  const Field models = training["modelPVC"];
  out.object("modelClaim", [&] {
    out.member("name", std::string_view(parts::claim_name(scope, models)));
    put(out, "accessMode", models["volumeAccessMode"]);
    put(out, "subPath", models["subPath"]);
  });
  const Field workspace = training["workspacePVC"];
  out.object("workspace", [&] {
    // An empty storage class is a choice, too: none.
    if (const auto storage_class = workspace["storageClass"].text()) out.member("storageClass", *storage_class);
    put(out, "accessMode", workspace["volumeAccessMode"]);
    if (const auto size = workspace["size"].text()) out.member("size", std::string_view(parts::amount_text(*size)));
    put(out, "mountPath", workspace["mountPath"]);
  });
}

/// The file by which the customizer knows how its jobs run, compact JSON; what is not set is left out. Its members
/// stand in a table in CONTRACT.md.
std::string jobs_config(const Scope& scope) {
  const Field& spec = scope.spec;
  return json::object_text([&](json::Writer& out) {
    write_owner(out, scope.planning.resource);
    write_scheduler(out, spec);
    parts::member_canonical(out, "imagePullSecrets", spec["image"]["pullSecrets"]);
    write_tools(scope, out);
    write_downloads(scope, out, spec["modelDownloadJobs"]);
    write_tracker(out, spec["experimentTracker"]);
    write_claims(scope, out, spec["trainingConfig"]);
    write_training(scope, out, spec["trainingConfig"]);
  });
}

/// What the customizer may do in its namespace, by scheduler.type and scheduler.queueDialect: the rights of one
/// scheduler and no other.
std::vector<parts::PolicyRule> rights(std::string_view scheduler, std::string_view dialect) {
  const std::vector<std::string> life{"create", "get", "list", "watch", "delete"};
  const std::vector<std::string> view{"list", "watch"};
  std::vector<parts::PolicyRule> out{{{""}, {"pods"}, view},
                                     {{""}, {"pods/log"}, {"get"}},
                                     {{""}, {"events"}, view},
                                     {{""}, {"resourcequotas", "limitranges"}, {"list"}},
                                     {{""}, {"configmaps"}, {"create", "get", "delete"}},
                                     // Made for each job, with the token of its progress, and never read.
                                     {{""}, {"secrets"}, {"create", "delete"}},
                                     {{""}, {"persistentvolumeclaims"}, life},
                                     // Models and datasets are downloaded by plain Jobs, whoever schedules trainings.
                                     {{"batch"}, {"jobs"}, life}};
  if (scheduler == "gang") {
    out.push_back({{"batch.volcano.sh"}, {"jobs"}, life});
    out.push_back({{"scheduling.volcano.sh"}, {"podgroups"}, view});  // why a job waits
  } else {
    // Names for the pods of a training on several nodes; a gang's scheduler makes its own.
    out.push_back({{""}, {"services"}, {"create", "delete"}});
    if (dialect == "kueue") {
      out.push_back({{"kueue.x-k8s.io"}, {"localqueues"}, {"get"}});
      out.push_back({{"kueue.x-k8s.io"}, {"workloads"}, view});
      out.push_back({{"visibility.kueue.x-k8s.io"}, {"localqueues/pendingworkloads"}, {"get"}});
    }
  }
  return out;
}

std::string mount_config_map(Workload& workload, std::string_view volume, std::string_view config_map) {
  std::string path = fmt::format("/etc/stackgate/{}", volume);
  parts::mount(workload, pods::config_map_volume(volume, config_map), path);
  return path;
}

/// The ConfigMap that says how jobs run, mounted; pods restart when it changes.
void use_jobs_config(const Scope& scope, Workload& workload) {
  const std::string name = scope.name + "-jobs";
  const std::string config = jobs_config(scope);
  parts::add_child(scope, ChildType::config_map, name, {}, [&](json::Writer& out) {
    out.object("data", [&] { out.member("config.json", std::string_view(config)); });
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
  Workload workload = stack::begin(
      scope,
      {.startup_path = "/v1/health/ready", .readiness_path = "/v1/health/ready", .liveness_path = "/v1/health/live"});
  workload.main.env.push_back(pods::env_from_field("STACKGATE_NAMESPACE", "metadata.namespace"));
  stack::put_text(workload, "STACKGATE_DATASTORE_URL", spec["datastore"]["endpoint"]);
  stack::sign_in_to_datastore(scope, workload);
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
