#include <fmt/format.h>

#include "reconcile/plan/kinds.hpp"
#include "reconcile/plan/stack_common.hpp"
#include "services/kit/grammar/host.hpp"

namespace stackgate::reconcile {
namespace datastore {

using parts::Field;
using pods::env_from_secret;
using pods::env_text;
using pods::env_value;

/// Two pods must not write one Git repository from two nodes that take turns in mounting the volume. Of a claim that
/// exists the mode need not be written: a single pod is then taken for the sign that it is mounted once.
bool is_exclusive(const parts::Workload& workload, const Field& claim) {
  const std::string_view mode = claim["volumeAccessMode"].text().value_or("");
  return mode.empty() ? workload.replicas <= 1 : mode != "ReadWriteMany";
}

void use_secrets(parts::Workload& workload, const Field& secrets) {
  auto& env = workload.main.env;
  const std::string_view admin = secrets["gitAdminSecret"].text().value_or("");
  for (const std::string_view key : {"GIT_ADMIN_USERNAME", "GIT_ADMIN_PASSWORD"})
    env.push_back(env_from_secret(key, admin, key));
  const auto mount = [&](std::string_view volume, std::string_view field,
                         const std::vector<pods::KeyToPath>& items = {}) {
    return stack::mount_secret(workload, volume, secrets[field].text().value_or(""), items);
  };
  const std::string jwt = mount("lfs-jwt", "lfsJwtSecret", {{"jwtSecret", "jwtSecret"}});
  env.push_back(env_value("STACKGATE_LFS_JWT_SECRET_FILE", jwt + "/jwtSecret"));
  const std::string config =
      mount("config", "datastoreConfigSecret", {{"config_environment.sh", "config_environment.sh"}});
  env.push_back(env_value("STACKGATE_CONFIG_SCRIPT", config + "/config_environment.sh"));
  env.push_back(env_value("STACKGATE_INIT_DIR", mount("init", "datastoreInitSecret")));
  env.push_back(env_value("STACKGATE_INLINE_CONFIG_DIR", mount("inline-config", "datastoreInlineConfigSecret")));
}

/// Without `ssl` the port decides.
bool speaks_tls(const Field& store) {
  if (const auto ssl = store["ssl"].flag()) return *ssl;
  const auto address = validate::grammar::parse_host_port(store["endpoint"].text().value_or(""));
  return address && address->port == 443;
}

void use_object_store(parts::Workload& workload, const Field& store) {
  if (store.absent()) return;
  auto& env = workload.main.env;
  stack::put_text(workload, "STACKGATE_S3_ENDPOINT", store["endpoint"]);
  stack::put_text(workload, "STACKGATE_S3_BUCKET", store["bucketName"]);
  stack::put_text(workload, "STACKGATE_S3_REGION", store["region"]);
  env.push_back(env_value("STACKGATE_S3_SSL", speaks_tls(store) ? "true" : "false"));
  env.push_back(env_value("STACKGATE_S3_SERVE_DIRECT", store["serveDirect"].flag().value_or(true) ? "true" : "false"));
  const Field credentials = store["credentials"];
  env.push_back(env_text("S3_ACCESS_KEY", credentials["user"].text().value_or("")));
  env.push_back(env_from_secret("S3_SECRET_KEY", credentials["secretName"].text().value_or(""),
                                credentials["passwordKey"].text().value_or("")));
}

}  // namespace datastore

void plan_stack_datastore(const Planning& planning) {
  const parts::Scope scope(planning);
  const parts::Field claim = scope.spec["pvc"];
  parts::Workload workload = stack::begin(
      scope,
      {.startup_path = "/v1/health/live", .readiness_path = "/v1/health/ready", .liveness_path = "/v1/health/live"});
  datastore::use_secrets(workload, scope.spec["secrets"]);
  datastore::use_object_store(workload, scope.spec["objectStoreConfig"]);
  if (claim.present()) {
    parts::mount_claim(scope, workload, claim, "data", "/data");
    parts::add_claim(scope, claim);
    if (datastore::is_exclusive(workload, claim)) workload.rollout = parts::Rollout::recreate;
  }
  stack::finish(scope, std::move(workload),
                {.init = {"init"}, .mounted = claim.present() ? std::optional(claim) : std::nullopt});
}

}  // namespace stackgate::reconcile
