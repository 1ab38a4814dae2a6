#include "reconcile/plan/stack_common.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "reconcile/plan/parts/otel.hpp"
#include "reconcile/plan/parts/outcome.hpp"

namespace stackgate::reconcile::stack {
namespace {

using parts::Field;
using parts::Workload;

/// The group that files of Secrets and fresh volumes are given to; "nonroot" in the operator's own images.
constexpr std::int64_t nonroot_group = 65532;

constexpr std::string_view data_volume = "data";
constexpr std::string_view data_folder = "/data";

/// RFC 3986, section 2.3: everything but the unreserved characters is encoded.
std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool unreserved = letter || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (unreserved)
      out += c;
    else
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

/// https://www.postgresql.org/docs/current/libpq-connect.html, connection URIs.
std::string database_url(const Field& database) {
  const std::string_view host = database["host"].text().value_or("");
  const bool v6 = host.find(':') != std::string_view::npos;
  return fmt::format("postgresql://{}@{}{}{}:{}/{}",
                     percent_encoded(database["credentials"]["user"].text().value_or("")), v6 ? "[" : "", host,
                     v6 ? "]" : "", database["port"].integer().value_or(5432),
                     percent_encoded(database["databaseName"].text().value_or("")));
}

void use_database(Workload& workload, const Field& database) {
  if (database.absent()) return;
  const Field credentials = database["credentials"];
  const std::string folder = mount_secret(workload, "database", credentials["secretName"].text().value_or(""),
                                          {{std::string(credentials["passwordKey"].text().value_or("")), "password"}});
  workload.main.env.push_back(pods::env_text("STACKGATE_DATABASE_URL", database_url(database)));
  workload.main.env.push_back(pods::env_value("STACKGATE_DATABASE_PASSWORD_FILE", folder + "/password"));
}

/// The container's image with a sub-command: same environment, same volumes.
pods::Container sub_command(const pods::Container& main, std::string_view word) {
  pods::Container out = main;
  out.name = word;
  out.args = {std::string(word)};
  out.ports.clear();
  out.startup = out.readiness = out.liveness = std::nullopt;
  return out;
}

}  // namespace

Workload begin(const parts::Scope& scope, const parts::WorkloadDefaults& defaults) {
  Workload workload = parts::read_workload(scope, defaults);
  workload.fs_group = nonroot_group;
  auto& env = workload.main.env;
  env.push_back(pods::env_value("STACKGATE_LISTEN", fmt::format("0.0.0.0:{}", parts::workload_port)));
  env.push_back(pods::env_value("STACKGATE_DATA_DIR", data_folder));
  use_database(workload, scope.spec["databaseConfig"]);
  for (pods::EnvVar& each : parts::otel_env(scope)) env.push_back(std::move(each));
  return workload;
}

void put_text(Workload& workload, std::string_view name, const Field& field) {
  if (const auto text = field.text(); text && !text->empty()) workload.main.env.push_back(pods::env_text(name, *text));
}

std::string mount_secret(Workload& workload, std::string_view volume, std::string_view secret,
                         const std::vector<pods::KeyToPath>& items) {
  std::string path = fmt::format("{}/{}", secrets_folder, volume);
  workload.pod.volumes.push_back(pods::secret_volume(volume, secret, items));
  workload.main.mounts.push_back({.volume = std::string(volume), .path = path, .read_only = true});
  return path;
}

std::string image_or_own(const parts::Scope& scope, const Field& field, std::string_view own) {
  if (const auto text = field.text(); text && !text->empty()) return std::string(*text);
  const auto& images = scope.planning.settings.images;
  const auto found = images.find(own);
  return found == images.end() ? std::string() : found->second;
}

void finish(const parts::Scope& scope, Workload workload, const Ending& ending) {
  if (std::ranges::find(workload.main.mounts, data_volume, &pods::Mount::volume) == workload.main.mounts.end()) {
    workload.pod.volumes.push_back(pods::empty_volume(data_volume));
    workload.main.mounts.push_back({.volume = std::string(data_volume), .path = std::string(data_folder)});
  }
  parts::append_user_env(scope, workload);
  if (scope.spec["databaseConfig"].present()) workload.pod.init.push_back(sub_command(workload.main, "migrate"));
  for (const std::string& word : ending.init) workload.pod.init.push_back(sub_command(workload.main, word));
  parts::add_workload(scope, workload);
  parts::Outcome outcome{.wanted = workload.replicas};
  // Of a claim that the operator did not make only the pods can tell.
  if (ending.mounted && (*ending.mounted)["create"].flag().value_or(false))
    outcome.blockers = parts::claim_troubles(scope, {parts::claim_name(scope, *ending.mounted)});
  parts::conclude(scope, std::move(outcome));
}

}  // namespace stackgate::reconcile::stack
