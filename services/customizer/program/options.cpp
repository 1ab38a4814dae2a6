#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "services/customizer/program/program.hpp"
#include "services/kit/service/common.hpp"
#include "services/kit/settings/table.hpp"

namespace stackgate::customizer {
namespace options_detail {

using namespace settings::table;

constexpr std::int64_t month = 30 * 86'400;

void append_own(std::vector<settings::Setting>& out) {
  append(out, "Data and adapters",
         {required(url("datastore-url", "where datasets are: http://datastore:8000/v1/hf")),
          by_variable("DATASTORE_USERNAME", text("datastore-username", "signs in there")),
          by_variable("DATASTORE_PASSWORD", secret("datastore-password", "its password or token")),
          duration("datastore-timeout", "for its answer to a small call", "10s", 1, 300),
          required(url("entitystore-url", "where adapters go: http://entitystore:8000")),
          by_variable("REGISTRY_API_KEY", secret("registry-api-key", "for base models of a registry")),
          duration("validation-limit", "for all that is looked at before a customization is created", "20s", 1, 600)});
  append(out, "Models",
         {text("model-config-dir",
               "folder of customizationTargets and customizationConfigTemplates; without it each "
               "directory of --models-dir is a model"),
          text("training-config-dir", "folder of container_defaults and hyperparameters"),
          text("models-dir", "base models; DATA-DIR/models without it")});
  append(out, "Stages",
         {text("programs-dir", "of stackgate-trainer and stackgate-puller; beside this program without it"),
          integer("local-trainings", "at the same time on this machine; the others wait for their turn", "1", 1, 1'000),
          duration("waiting-limit", "of an attempt that does not run", "24h", 1, month),
          duration("download-limit", "of a download, once it runs", "6h", 1, month),
          duration("training-limit", "of all attempts at a training together, once it runs; 0s: none", "0s", 0, month),
          duration("upload-limit", "of an upload, until the adapter is stored", "1h", 1, month),
          duration("keep", "how long the workspace of what has ended stays", "1h", 0, month),
          duration("keep-failed", "the same of what has failed, which can be tried again", "24h", 0, month),
          duration("lease", "a replica that dies holds its customizations for so long", "30s", 3, 3'600)});
  append(out, "Reports of trainers",
         {listen("callback-listen", "where they are taken", "127.0.0.1:9009"),
          url("callback-url", "of it, as trainers find it; http:// and --callback-listen without it")});
  append(out, "Experiment trackers",
         {url("tracking-url", "of an MLflow tracking server that records customizations"),
          by_variable("MLFLOW_EXPERIMENT_NAME", text("mlflow-experiment", "made where it is not", "customizations")),
          by_variable("MLFLOW_TRACKING_TOKEN", secret("mlflow-token", "sent as a bearer token")),
          by_variable("MLFLOW_TRACKING_USERNAME", text("mlflow-user", "with a password, where there is no token")),
          by_variable("MLFLOW_TRACKING_PASSWORD", secret("mlflow-password", "of that user")),
          url("tracker-url", "of Weights & Biases, or what speaks its protocol", "https://api.wandb.ai"),
          secret("tracker-api-key", "of it, for customizations that come without a header wandb-api-key"),
          secret("tracker-encryption-key",
                 "keys of such headers are encrypted with it at rest; without it they are "
                 "refused"),
          text("tracker-entity", "user or team that its runs belong to; the key's own without it"),
          text("tracker-project", "that they belong to", "customizations")});
  append(out, "Cluster",
         {text("customizer-config-file",
               "config.json of the operator: stages are jobs of a cluster; without it, processes of this machine"),
          text("kubeconfig", "of that cluster; the pod's service account, or KUBECONFIG, without it"),
          by_variable("STACKGATE_NAMESPACE", text("namespace", "where jobs are made; this pod's without it")),
          text("replica-name", "by which replicas know each other's work; the host's name without it")});
  append(out, "Access", {text("token-file", "bearer tokens that may call, one a line; without it everybody may")});
}

std::string own_directory() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

Seconds seconds_of(const settings::Values& values, std::string_view name) { return values.integer(name) / 1'000; }

std::string data_path(const settings::Values& values, std::string_view name) {
  std::error_code ignored;
  // Stages run in directories of their own.
  return std::filesystem::absolute(fmt::format("{}/{}", values.text("data-dir"), name), ignored).string();
}

std::string models_of(const settings::Values& values) {
  std::error_code ignored;
  const std::string& given = values.text("models-dir");
  return given.empty() ? data_path(values, "models") : std::filesystem::absolute(given, ignored).string();
}

std::string programs_of(const settings::Values& values) {
  std::error_code ignored;
  const std::string& given = values.text("programs-dir");
  return given.empty() ? own_directory() : std::filesystem::absolute(given, ignored).string();
}

}  // namespace options_detail

using namespace options_detail;

settings::Program program() {
  settings::Program out{
      .name = "stackgate-customizer",
      .summary = "LoRA adapters from a dataset: downloaded, trained and uploaded, each stage restartable",
      .commands = {{"serve", "answer requests; the default"},
                   {"migrate", "wait for the database and bring it to this version's schema", false, {"Data", "Log"}},
                   {"check",
                    "read models, configurations and config.json, and print what is wrong with them",
                    false,
                    {"Models", "Cluster"}}},
      .settings = service::common_settings(),
      .examples =
          "  stackgate-customizer --data-dir /var/lib/customizer --datastore-url http://127.0.0.1:8000/v1/hf "
          "--entitystore-url http://127.0.0.1:8001 --listen 127.0.0.1:8003\n"
          "  curl --json '{\"name\":\"mine\",\"model\":\"acme/tiny\",\"dataset\":\"ada/questions\",\"hyperparameters\":"
          "{\"lora_rank\":8,\"lora_alpha\":16,\"learning_rate\":1e-4,\"num_epochs\":1}}' "
          "http://127.0.0.1:8003/v1/customizations"};
  append_own(out.settings);
  return out;
}

validate::Findings check_options(const settings::Values& values) {
  validate::Findings out;
  if (values.has("customizer-config-file")) {
    for (const std::string_view each : {"local-trainings", "programs-dir", "models-dir"})
      if (values.source(each) != settings::Source::fallback)
        out.push_back(settings::fault(fmt::format("--{}", each), "is for stages on this machine",
                                      "leave it out, or --customizer-config-file", values.text(each)));
    // Pods do not find what listens on a name of this machine.
    if (service::serves(program(), values) && values.text("callback-url").empty())
      out.push_back(settings::fault("--callback-url", "is missing: training pods report there",
                                    "give the address of --callback-listen as pods find it, such as "
                                    "http://customizer.team.svc:9009",
                                    ""));
  }
  if (auto missing = service::missing_datastore_credential(values)) out.push_back(std::move(*missing));
  return out;
}

Limits limits_of(const settings::Values& values) {
  Limits out;
  out.waiting = seconds_of(values, "waiting-limit");
  out.download = seconds_of(values, "download-limit");
  out.training = seconds_of(values, "training-limit");
  out.upload = seconds_of(values, "upload-limit");
  out.keep = seconds_of(values, "keep");
  out.keep_failed = seconds_of(values, "keep-failed");
  return out;
}

CatalogueFolders folders_of(const settings::Values& values) {
  // A cluster's models lie in a claim that is not mounted here.
  return {.models = values.text("model-config-dir"),
          .training = values.text("training-config-dir"),
          .model_files = values.has("customizer-config-file") ? std::string() : models_of(values)};
}

MlflowOptions mlflow_options(const settings::Values& values) {
  return {.server = {.url = values.text("tracking-url"),
                     .token = values.text("mlflow-token"),
                     .user = values.text("mlflow-user"),
                     .password = values.text("mlflow-password")},
          .experiment = values.text("mlflow-experiment")};
}

WandbOptions wandb_options(const settings::Values& values) {
  return {.url = values.text("tracker-url"),
          .api_key = values.text("tracker-api-key"),
          .entity = values.text("tracker-entity"),
          .project = values.text("tracker-project"),
          .encryption_key = values.text("tracker-encryption-key")};
}

LocalOptions local_options(const settings::Values& values, const std::string& callback_url) {
  return {.directory = data_path(values, "jobs"),
          .models = models_of(values),
          .programs = programs_of(values),
          .addresses = {.callback_url = callback_url,
                        .datastore_url = values.text("datastore-url"),
                        .entitystore_url = values.text("entitystore-url")},
          .credentials = {.datastore_username = values.text("datastore-username"),
                          .datastore_password = values.text("datastore-password"),
                          .registry_api_key = values.text("registry-api-key")},
          .trainings = static_cast<unsigned>(values.integer("local-trainings"))};
}

}  // namespace stackgate::customizer
