#include "services/kit/settings/variables.hpp"

#include <algorithm>

#include "services/kit/findings/nearest.hpp"
#include "services/kit/settings/names.hpp"

namespace stackgate::settings {
namespace variables_detail {

constexpr std::string_view prefix = "STACKGATE_";

// Without the prefix, in order. One that ends with "_" is the beginning of several.
constexpr std::string_view family =
    "ACCESS_LOG_DAYS ADMISSION ANONYMOUS_READ API_CALLS_PER_SECOND APPROVAL CALLBACK_LISTEN CALLBACK_URL CERTS "
    "CONFIG_SCRIPT CONFIG_STORE CONSOLE_LOG_LEVEL CONTEXT CUSTOMIZER_CONFIG_FILE DATABASE_PASSWORD_FILE "
    "DATABASE_URL DATASTORE_OWNER DATASTORE_PUBLIC_URL DATASTORE_TIMEOUT DATASTORE_URL DATA_DIR DOWNLOADS "
    "DOWNLOAD_VALID DRAIN_SECONDS ENABLE_VALIDATION ENTITYSTORE_URL EVALUATION_IMAGE_ EVAL_LOG_LEVEL GIT_PROCESSES "
    "GPU_RESOURCES HASH HEALTH_LISTEN IMAGE IMAGE_PULL_SECRETS INFERENCE_URL INIT_DIR INLINE_CONFIG_DIR KUBECONFIG "
    "LEADER_ELECT LEASE LEASE_NAME LEASE_NAMESPACE LEASE_SECONDS LFS_JWT_SECRET LFS_JWT_SECRET_FILE LFS_MAX_FILE "
    "LFS_PARTS_FROM LFS_REPOSITORY_QUOTA LFS_THRESHOLD LFS_TOTAL_QUOTA LISTEN LOG_FORMAT LOG_HANDLERS LOG_LEVEL "
    "MAX_ARCHIVE MAX_ENTRIES MAX_LORA_RANK MAX_UNPACKED METRICS_LISTEN MODEL_CONFIG_DIR NAMESPACE NAMESPACES "
    "NO_CLUSTER OTHER_REFERENCES OUTPUT PULL_CA_DIR PULL_ENDPOINT PULL_ENGINE PULL_LORA PULL_PRECISION "
    "PULL_PROFILES PULL_PROGRESS PULL_REPOSITORY PULL_REVISION PULL_SOURCE PULL_TARGET PULL_TENSOR_PARALLELISM "
    "PUSH_LIMIT RECONCILE_WORKERS REFERENCES REFRESH_INTERVAL RENEW_SECONDS REPAIR RETRY_SECONDS S3_BUCKET "
    "S3_CA_FILE S3_ENDPOINT S3_PATH_STYLE S3_PUBLIC_ENDPOINT S3_REGION S3_SERVE_DIRECT S3_SSL SERVICE_NAME "
    "SERVICE_NAMESPACE SWEEP_INTERVAL TLS_CERT TLS_KEY TRACKER_API_KEY_FILE TRACKER_ENCRYPTION_KEY_FILE "
    "TRACKER_ENTITY TRACKER_PROJECT TRACKING_URL TRAINING_CONFIG_DIR UPKEEP_INTERVAL VECTOR_DB_URL "
    "WEBHOOK_CONFIG_NAMES WORKERS WORKFLOW_SERVER_URL WORKFLOW_SERVICE_ACCOUNT WORKFLOW_TASK_RESULTS ";

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// <SERVICE>_SERVICE_HOST, _SERVICE_PORT, _SERVICE_PORT_<NAME>, _PORT (with a URL), _PORT_<N>_<PROTOCOL> and that with
/// _PROTO, _PORT or _ADDR: kubernetes.io/docs/concepts/services-networking/service/#environment-variables
bool is_of_kubernetes(std::string_view name, std::string_view value) {
  if (name.ends_with("_SERVICE_HOST") || name.ends_with("_SERVICE_PORT") || name.contains("_SERVICE_PORT_"))
    return true;
  const auto is_link = [&](std::string_view protocol) { return value.starts_with(protocol); };
  if (name.ends_with("_PORT") && (is_link("tcp://") || is_link("udp://") || is_link("sctp://"))) return true;
  for (auto at = name.find("_PORT_"); at != std::string_view::npos; at = name.find("_PORT_", at + 1)) {
    const std::string_view rest = name.substr(at + 6);
    const auto bar = rest.find('_');
    if (bar == std::string_view::npos || !is_number(rest.substr(0, bar))) continue;
    const std::string_view kind = rest.substr(bar + 1, rest.find('_', bar + 1) - bar - 1);
    if (kind == "TCP" || kind == "UDP" || kind == "SCTP") return true;
  }
  return false;
}

}  // namespace variables_detail

bool is_of_family(std::string_view name) {
  using namespace variables_detail;
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  for (std::string_view rest = family; !rest.empty(); rest.remove_prefix(rest.find(' ') + 1)) {
    const std::string_view each = rest.substr(0, rest.find(' '));
    if (each.ends_with('_') ? name.starts_with(each) : name == each) return true;
  }
  return false;
}

std::vector<Misspelt> misspelt_variables(const Program& program, std::span<const std::string_view> environment) {
  std::vector<std::string> own;
  for (const Setting& setting : program.settings) {
    own.push_back(variable_of(setting));
    if (setting.kind == Kind::secret) own.push_back(variable_of(setting) + "_FILE");
  }
  using namespace variables_detail;
  std::vector<std::string_view> known;
  for (const std::string& name : own)
    if (name.starts_with(prefix)) known.push_back(std::string_view(name).substr(prefix.size()));
  std::vector<Misspelt> out;
  for (const std::string_view line : environment) {
    const auto equals = line.find('=');
    if (!line.starts_with(prefix) || equals == std::string_view::npos || equals + 1 == line.size()) continue;
    const std::string_view name = line.substr(prefix.size(), equals - prefix.size());
    if (std::ranges::find(known, name) != known.end() || is_of_family(line.substr(0, equals)) ||
        is_of_kubernetes(name, line.substr(equals + 1)))
      continue;
    if (const auto meant = validate::nearest(name, known); !meant.empty())
      out.push_back({std::string(line.substr(0, equals)), std::string(prefix).append(meant)});
  }
  std::ranges::sort(out, {}, &Misspelt::name);
  return out;
}

}  // namespace stackgate::settings
