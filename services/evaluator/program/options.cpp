#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/evaluator/program/program.hpp"
#include "services/kit/grammar/dataset_reference.hpp"
#include "services/kit/service/common.hpp"
#include "services/kit/settings/table.hpp"

namespace stackgate::evaluator {
namespace options_detail {

using namespace settings::table;

/// By Framework; custom has none. The variable is the operator's: STACKGATE_EVALUATION_IMAGE_LM_EVAL_HARNESS.
constexpr std::array<std::string_view, framework_names.size()> image_settings = {
    "",
    "evaluation-image-lm-eval-harness",
    "evaluation-image-bigcode-eval-harness",
    "evaluation-image-similarity-metrics",
    "evaluation-image-llm-as-judge",
    "evaluation-image-mt-bench",
    "evaluation-image-retriever",
    "evaluation-image-rag",
    "evaluation-image-bfcl",
    "evaluation-image-agentic-eval"};

constexpr std::array<std::string_view, 4> levels = {"debug", "info", "warning", "error"};

/// INFO, DEBUG, WARNING or ERROR in either case; "" where it is none.
std::string_view level_named(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = static_cast<char>(c | 0x20);
  if (lower == "warn") lower = "warning";
  for (const std::string_view each : levels)
    if (each == lower) return each;
  return {};
}

settings::Setting level(std::string_view name, std::string_view help) {
  settings::Setting out = text(name, help);
  out.check = [](const std::string& given) -> std::string {
    return given.empty() || !level_named(given).empty() ? "" : "is no level; write DEBUG, INFO, WARNING or ERROR";
  };
  return out;
}

settings::Setting list(std::string_view name, std::string_view help) {
  return {.name = name, .kind = settings::Kind::list, .help = help};
}

settings::Setting handlers() {
  settings::Setting out = list("log-handlers", "where log lines go: console");
  out.check = [](const std::string& given) -> std::string {
    return given.empty() || given == "console" ? "" : "is no handler of this service; write console";
  };
  return out;
}

settings::Setting results_repository() {
  settings::Setting out =
      text("results-repository", "a data set of the datastore where frameworks may leave results: ada/results");
  out.check = [](const std::string& given) -> std::string {
    const auto read = validate::grammar::parse_dataset_reference(given);
    return given.empty() || (read && read->path.empty() && read->revision.empty() && read->repository == given)
               ? ""
               : "names no repository; write, for example, ada/results";
  };
  return out;
}

void append_own(std::vector<settings::Setting>& out) {
  append(out, "Data sets",
         {url("datastore-url", "where data sets are: http://datastore:8000/v1/hf"),
          by_variable("DATASTORE_USERNAME", text("datastore-username", "signs in there")),
          by_variable("DATASTORE_PASSWORD", secret("datastore-password", "its password or token")),
          secret("datastore-token", "instead of both: sent as Bearer"),
          duration("datastore-timeout", "for its answer to a small call", "10s", 1, 300),
          url("entitystore-url", "where adapters are, which evaluations name as models"),
          choice("validation", {"on", "off"},
                 "data sets are pinned and their rows looked at before an evaluation is taken"),
          flag("enable-validation", "the same, as the operator writes it", "true"),
          duration("validation-limit", "for all of that", "20s", 1, 600)});
  append(out, "Evaluations",
         {integer("max-evaluations", "at the same time in this process", "4", 1, 64),
          duration("lease", "a replica that dies holds its evaluations for so long", "30s", 2, 3'600),
          duration("patience", "how long an endpoint that is not there is waited for before the first question", "24h",
                   1, 30 * 86'400),
          duration("answer-patience", "the same for each sample, and for judges", "5m", 1, 86'400),
          text("endpoint-ca-file", "certificates to trust at https endpoints of models, besides the system's"),
          text("endpoint-ca", "the same as PEM itself, such as a ConfigMap's key")});
  append(
      out, "Workflows",
      {url("workflow-server-url", "of Argo Workflows: https://argo-server:2746; without it a process on this machine"),
       text("workflow-namespace", "where workflows run; this pod's without it"),
       by_variable("STACKGATE_NAMESPACE", text("namespace", "this pod's")),
       text("workflow-service-account", "that their pods run as"),
       text("workflow-token-file", "sent to the server; read for each call",
            "/var/run/secrets/kubernetes.io/serviceaccount/token"),
       secret("workflow-server-token", "sent instead of the file's"),
       text("workflow-ca-file", "certificates to trust, besides the system's"),
       text("workflow-ca", "the same as PEM itself, such as a ConfigMap's key"),
       text("workflow-key-secret", "a Secret beside them, with keys of endpoints: model, judge, embeddings",
            "stackgate-evaluator-keys"),
       text("workflow-template-prefix", "they are made of the WorkflowTemplates PREFIX-<framework>"),
       duration("workflow-deadline", "of one workflow or process", "24h", 60, 30 * 86'400), results_repository(),
       flag("workflow-archive-logs", "Argo keeps logs as artifacts; results are read there when pods are gone",
            "false"),
       flag("workflow-insecure", "do not ask who answers there", "false"),
       list("image-pull-secrets", "of workflows' pods"), text("image", "this service's own")});
  for (std::size_t i = 1; i < image_settings.size(); ++i)
    out.push_back(text(image_settings.at(i), "the framework's image"));
  for (std::size_t i = out.size() - image_settings.size() + 1; i < out.size(); ++i) out[i].group = "Images";
  append(out, "Search",
         {url("vector-db-url", "Milvus or PostgreSQL with pgvector, for retriever and rag"),
          secret("vector-db-token", "Milvus' user:password, or PostgreSQL's password"),
          text("vector-db-ca-file", "certificates to trust there, besides the system's")});
  append(out, "Log",
         {level("eval-log-level", "what evaluations write: DEBUG or INFO"), handlers(),
          level("console-log-level", "what of it the console takes")});
}

}  // namespace options_detail

using namespace options_detail;

settings::Program program() {
  settings::Program out{
      .name = "stackgate-evaluator",
      .summary = "Scores of models behind OpenAI endpoints, with standard errors and records of every sample",
      .commands =
          {{"serve", "answer requests; the default"},
           {"migrate", "wait for the database and bring it to this version's schema", false, {"Data", "Log"}},
           {"score", "metrics of what is given: a line of JSON in, a line out", false, {"log-level"}},
           {"templates", "print the WorkflowTemplates of the configured images", false, {"Workflows", "Images"}}},
      .settings = service::common_settings(),
      .examples =
          "  stackgate-evaluator --data-dir /var/lib/evaluator --datastore-url http://127.0.0.1:8000/v1/hf --listen "
          "127.0.0.1:8004\n"
          "  curl --json '{\"name\":\"mine\",\"model_endpoint\":\"http://127.0.0.1:8002/v1\",\"framework\":"
          "\"similarity-metrics\",\"dataset\":\"ada/questions\",\"params\":{\"prompt\":\"{{ item.question }}\","
          "\"reference\":\"{{ item.answer }}\"}}' http://127.0.0.1:8004/v1/evaluations\n"
          "  echo '{\"metric\":\"f1\",\"items\":[{\"prediction\":\"a cat\",\"references\":[\"the cat sat\"]}]}' | "
          "stackgate-evaluator score"};
  append_own(out.settings);
  return out;
}

validate::Findings check_options(const settings::Values& values) {
  validate::Findings out;
  if (auto missing = service::missing_datastore_credential(values)) out.push_back(std::move(*missing));
  if (!values.text("datastore-username").empty() && !values.text("datastore-token").empty())
    out.push_back(
        settings::fault("--datastore-token-file", "is given beside a username and password", "give one of them"));
  return out;
}

bool wants_validation(const settings::Values& values) {
  const std::string& word = values.text("validation");
  return word.empty() ? values.flag("enable-validation") : word == "on";
}

std::string log_level_of(const settings::Values& values) {
  std::string_view out = values.text("log-level");
  // What neither names is the common setting's; of two levels the later one in the list lets less through.
  std::string_view own;
  for (const std::string_view name : {"eval-log-level", "console-log-level"}) {
    const std::string_view given = level_named(values.text(name));
    const auto place = [](std::string_view word) { return std::ranges::find(levels, word) - levels.begin(); };
    if (!given.empty() && (own.empty() || place(given) > place(own))) own = given;
  }
  if (!own.empty() && values.source("log-level") == settings::Source::fallback) out = own;
  return std::string(out);
}

WorkflowOptions workflow_options(const settings::Values& values) {
  WorkflowOptions out{.server_url = values.text("workflow-server-url"),
                      .kubernetes_namespace = values.text("workflow-namespace"),
                      .token_file = values.text("workflow-token-file"),
                      .token = values.text("workflow-server-token"),
                      .ca_file = values.text("workflow-ca-file"),
                      .ca_text = values.text("workflow-ca"),
                      .insecure = values.flag("workflow-insecure"),
                      .service_account = values.text("workflow-service-account")};
  out.api_key_secret = values.text("workflow-key-secret");
  out.archive_logs = values.flag("workflow-archive-logs");
  out.template_prefix = values.text("workflow-template-prefix");
  out.deadline = std::chrono::seconds(values.integer("workflow-deadline") / 1'000);
  out.work_directory = values.text("data-dir");
  out.datastore_url = values.text("datastore-url");
  out.datastore_token = values.text("datastore-token");
  out.results_repository = values.text("results-repository");
  if (out.kubernetes_namespace.empty()) out.kubernetes_namespace = values.text("namespace");
  for (std::size_t i = 1; i < image_settings.size(); ++i) out.images.at(i) = values.text(image_settings.at(i));
  out.image_pull_secrets = values.list("image-pull-secrets");
  return out;
}

}  // namespace stackgate::evaluator
