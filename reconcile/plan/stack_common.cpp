#include "reconcile/plan/stack_common.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "reconcile/plan/parts/outcome.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/grammar/url.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::reconcile::stack {
namespace {

using parts::Field;
using parts::Workload;

/// The group that files of Secrets and fresh volumes are given to; "nonroot" in the operator's own images.
constexpr std::int64_t nonroot_group = 65532;

constexpr std::string_view data_volume = "data";
constexpr std::string_view data_folder = "/data";

/// https://www.postgresql.org/docs/current/libpq-connect.html, connection URIs.
std::string database_url(const Field& database) {
  const std::string_view host = database["host"].text().value_or("");
  const bool v6 = host.find(':') != std::string_view::npos;
  return fmt::format("postgresql://{}@{}{}{}:{}/{}",
                     percent_encode(database["credentials"]["user"].text().value_or("")), v6 ? "[" : "", host,
                     v6 ? "]" : "", database["port"].integer().value_or(5432),
                     percent_encode(database["databaseName"].text().value_or("")));
}

void use_database(Workload& workload, const Field& database) {
  if (database.absent()) return;
  const Field credentials = database["credentials"];
  const std::string folder = mount_secret(workload, "database", credentials["secretName"].text().value_or(""),
                                          {{std::string(credentials["passwordKey"].text().value_or("")), "password"}});
  workload.main.env.push_back(pods::env_text("STACKGATE_DATABASE_URL", database_url(database)));
  workload.main.env.push_back(pods::env_value("STACKGATE_DATABASE_PASSWORD_FILE", folder + "/password"));
}

/// The variables by which OpenTelemetry is set up: what spec.otel says. Switched off: OTEL_SDK_DISABLED alone, so that
/// no SDK looks for a collector by itself. Source:
/// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ and, for the two of Python,
/// https://opentelemetry.io/docs/zero-code/python/configuration/
void put_otel(const parts::Scope& scope, Workload& workload) {
  const Field otel = scope.spec["otel"];
  auto& env = workload.main.env;
  if (!otel["enabled"].flag().value_or(false)) return env.push_back(pods::env_value("OTEL_SDK_DISABLED", "true"));
  const auto put = [&](std::string_view name, const Field& field) { put_text(workload, name, field); };
  put("OTEL_EXPORTER_OTLP_ENDPOINT", otel["exporterOtlpEndpoint"]);
  const Field exporters = otel["exporterConfig"];
  put("OTEL_TRACES_EXPORTER", exporters["tracesExporter"]);
  put("OTEL_METRICS_EXPORTER", exporters["metricsExporter"]);
  put("OTEL_LOGS_EXPORTER", exporters["logsExporter"]);
  put("OTEL_LOG_LEVEL", otel["logLevel"]);
  std::string urls;
  if (const json::Value* list = otel["excludedUrls"].effective())
    for (const json::Value& url : list->items()) {
      if (!urls.empty()) urls += ',';
      urls += url.string();
    }
  if (!urls.empty()) env.push_back(pods::env_text("OTEL_PYTHON_EXCLUDED_URLS", urls));
  const bool logging = !otel["disableLogging"].flag().value_or(false);
  env.push_back(pods::env_value("OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED", logging ? "true" : "false"));
  env.push_back(pods::env_value("OTEL_SERVICE_NAME", scope.name));
  const std::string_view ns = scope.planning.resource.ns;
  env.push_back(pods::env_value("OTEL_RESOURCE_ATTRIBUTES",
                                fmt::format("service.namespace={},deployment.environment={}", ns, ns)));
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

struct Credential {
  std::string_view name, key;
};
constexpr std::array<Credential, 2> datastore_credentials{
    {{"DATASTORE_USERNAME", "GIT_ADMIN_USERNAME"}, {"DATASTORE_PASSWORD", "GIT_ADMIN_PASSWORD"}}};

bool is_datastore_credential(std::string_view name) {
  return std::ranges::find(datastore_credentials, name, &Credential::name) != datastore_credentials.end();
}

}  // namespace

Workload begin(const parts::Scope& scope, parts::WorkloadDefaults defaults) {
  defaults.container = defaults.image_name = scope.component;
  Workload workload = parts::read_workload(scope, defaults);
  workload.fs_group = nonroot_group;
  auto& env = workload.main.env;
  env.push_back(pods::env_value("STACKGATE_LISTEN", fmt::format("0.0.0.0:{}", parts::workload_port)));
  env.push_back(pods::env_value("STACKGATE_DATA_DIR", data_folder));
  use_database(workload, scope.spec["databaseConfig"]);
  put_otel(scope, workload);
  return workload;
}

void put_text(Workload& workload, std::string_view name, const Field& field) {
  parts::put_text(workload.main, name, field);
}

std::string mount_secret(Workload& workload, std::string_view volume, std::string_view secret,
                         const std::vector<pods::KeyToPath>& items) {
  std::string path = fmt::format("{}/{}", secrets_folder, volume);
  parts::mount(workload, pods::secret_volume(volume, secret, items), path);
  return path;
}

std::string image_or_own(const parts::Scope& scope, const Field& field, std::string_view own) {
  const std::string_view named = field.text().value_or("");
  return std::string(named.empty() ? parts::own_image(scope, own) : named);
}

std::string_view service_named(std::string_view url, std::string_view ns) {
  const auto parsed = validate::grammar::parse_http_url(url);
  if (!parsed || parsed->v6) return {};
  const std::string_view host = parsed->host, name = host.substr(0, host.find('.'));
  std::string_view rest = host.substr(name.size());
  if (rest.empty()) return name;
  rest.remove_prefix(1);
  if (rest == ns) return name;
  const std::string services = std::string(ns) + ".svc";
  return rest == services || rest.starts_with(services + ".") ? name : std::string_view();
}

std::string_view datastore_named(const json::Value* spec, std::string_view ns) {
  return service_named(json::text(spec, {"datastore", "endpoint"}), ns);
}

std::string_view admin_secret_of(const json::Value& datastore) {
  return json::text(&datastore, {"spec", "secrets", "gitAdminSecret"});
}

std::vector<pods::EnvVar> datastore_credentials_of(const parts::Scope& scope) {
  std::vector<pods::EnvVar> out;
  for (pods::EnvVar& each : parts::read_env(scope.spec["env"]))
    if (is_datastore_credential(each.name)) out.push_back(std::move(each));
  const std::string_view secret = scope.planning.observed.datastore_admin;
  if (!out.empty() || secret.empty()) return out;
  for (const auto& [name, key] : datastore_credentials) out.push_back(pods::env_from_secret(name, secret, key));
  return out;
}

void sign_in_to_datastore(const parts::Scope& scope, Workload& workload) {
  // The user's own come with the others.
  for (pods::EnvVar& each : datastore_credentials_of(scope)) workload.main.env.push_back(std::move(each));
}

void finish(const parts::Scope& scope, Workload workload, const Ending& ending) {
  if (std::ranges::find(workload.main.mounts, data_volume, &pods::Mount::volume) == workload.main.mounts.end())
    parts::mount(workload, pods::empty_volume(data_volume), data_folder, false);
  parts::append_user_env(scope, workload);
  if (scope.spec["databaseConfig"].present()) workload.pod.init.push_back(sub_command(workload.main, "migrate"));
  for (const std::string& word : ending.init) workload.pod.init.push_back(sub_command(workload.main, word));
  parts::add_workload(scope, workload);
  parts::Outcome outcome{.wanted = workload.replicas};
  // Of a claim that the operator did not make only the pods can tell.
  if (ending.mounted && (*ending.mounted)["create"].flag().value_or(false))
    outcome.blockers = parts::claim_problems(scope, {parts::claim_name(scope, *ending.mounted)});
  parts::conclude(scope, std::move(outcome));
}

}  // namespace stackgate::reconcile::stack
