#include "validators/rules/reserved.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/json/read.hpp"
#include "validators/rules/references_table.hpp"

namespace stackgate::validate {
namespace reserved_env {

using namespace kind_bits;

/// A pipeline's entries are InferenceServices.
constexpr std::uint8_t inference = service | pipeline;

enum class Only : std::uint8_t { always, with_cache, with_multi_node, with_otel };

struct ReservedVariable {
  std::string_view name;
  std::uint8_t kinds;
  std::string_view from;  // the field to use instead
  Only when = Only::always;
};

/// Why each is here: the operator writes the variable from the field beside it. The same table, with the values, stands
/// in reconcile/plan/README.md; a test holds the plans against this one.
constexpr ReservedVariable reserved_variables[] = {
    {"REGISTRY_API_KEY", inference, "authSecret"},
    {"LWS_LEADER_ADDRESS", inference, "multiNode", Only::with_multi_node},
    {"LWS_GROUP_SIZE", inference, "multiNode.size", Only::with_multi_node},
    {"LWS_WORKER_INDEX", inference, "multiNode", Only::with_multi_node},

    {"INF_CACHE_PATH", inference, "storage.nimCache", Only::with_cache},
    {"INF_MODEL_PROFILE", inference, "storage.nimCache.profile", Only::with_cache},
    {"INF_NODE_ROLE", inference, "multiNode", Only::with_multi_node},
    {"INF_NODE_RANK", inference, "multiNode", Only::with_multi_node},
    {"INF_NODE_COUNT", inference, "multiNode.size", Only::with_multi_node},
    {"INF_GROUP_INDEX", inference, "multiNode", Only::with_multi_node},
    {"INF_GPUS_PER_NODE", inference, "resources", Only::with_multi_node},
    {"INF_TENSOR_PARALLELISM", inference, "multiNode.tensorParallelism", Only::with_multi_node},
    {"INF_PIPELINE_PARALLELISM", inference, "multiNode.pipelineParallelism", Only::with_multi_node},
    {"INF_MPI_HOST_FILE", inference, "multiNode", Only::with_multi_node},
    {"INF_MPI_START_TIMEOUT", inference, "multiNode.mpiStartTimeoutSeconds", Only::with_multi_node},
    {"INF_SSH_KEY_FILE", inference, "multiNode", Only::with_multi_node},

    {"OTEL_EXPORTER_OTLP_ENDPOINT", stack, "otel.exporterOtlpEndpoint", Only::with_otel},
    {"OTEL_TRACES_EXPORTER", stack, "otel.exporterConfig.tracesExporter", Only::with_otel},
    {"OTEL_METRICS_EXPORTER", stack, "otel.exporterConfig.metricsExporter", Only::with_otel},
    {"OTEL_LOGS_EXPORTER", stack, "otel.exporterConfig.logsExporter", Only::with_otel},
    {"OTEL_LOG_LEVEL", stack, "otel.logLevel", Only::with_otel},
    {"OTEL_PYTHON_EXCLUDED_URLS", stack, "otel.excludedUrls", Only::with_otel},
    {"OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED", stack, "otel.disableLogging", Only::with_otel},

    {"STACKGATE_LISTEN", stack, "expose.service.port"},
    {"STACKGATE_DATA_DIR", stack, "the operator's own volume at /data"},
    {"STACKGATE_DATABASE_URL", stack, "databaseConfig"},
    {"STACKGATE_DATABASE_PASSWORD_FILE", stack, "databaseConfig.credentials"},
    {"STACKGATE_DATASTORE_URL", entitystore | customizer | evaluator, "datastore.endpoint"},
    {"STACKGATE_ENTITYSTORE_URL", customizer | evaluator, "entitystore.endpoint"},
    {"STACKGATE_NAMESPACE", customizer | evaluator, "metadata.namespace"},

    {"GIT_ADMIN_USERNAME", datastore, "secrets.gitAdminSecret"},
    {"GIT_ADMIN_PASSWORD", datastore, "secrets.gitAdminSecret"},
    {"STACKGATE_LFS_JWT_SECRET_FILE", datastore, "secrets.lfsJwtSecret"},
    {"STACKGATE_CONFIG_SCRIPT", datastore, "secrets.datastoreConfigSecret"},
    {"STACKGATE_INIT_DIR", datastore, "secrets.datastoreInitSecret"},
    {"STACKGATE_INLINE_CONFIG_DIR", datastore, "secrets.datastoreInlineConfigSecret"},
    {"STACKGATE_S3_ENDPOINT", datastore, "objectStoreConfig.endpoint"},
    {"STACKGATE_S3_BUCKET", datastore, "objectStoreConfig.bucketName"},
    {"STACKGATE_S3_REGION", datastore, "objectStoreConfig.region"},
    {"STACKGATE_S3_SSL", datastore, "objectStoreConfig.ssl"},
    {"STACKGATE_S3_SERVE_DIRECT", datastore, "objectStoreConfig.serveDirect"},
    {"S3_ACCESS_KEY", datastore, "objectStoreConfig.credentials"},
    {"S3_SECRET_KEY", datastore, "objectStoreConfig.credentials"},

    {"STACKGATE_CUSTOMIZER_CONFIG_FILE", customizer, "trainingConfig"},
    {"STACKGATE_MODEL_CONFIG_DIR", customizer, "modelConfig"},
    {"STACKGATE_TRAINING_CONFIG_DIR", customizer, "trainingConfig.configMap"},
    {"STACKGATE_TRACKING_URL", customizer, "trackingServer.endpoint"},
    {"STACKGATE_CALLBACK_LISTEN", customizer, "the Service's port callback"},
    {"STACKGATE_CALLBACK_URL", customizer, "the Service's port callback"},
    {"STACKGATE_TRACKER_API_KEY_FILE", customizer, "experimentTracker.apiKeyKey"},
    {"STACKGATE_TRACKER_ENCRYPTION_KEY_FILE", customizer, "experimentTracker.encryptionKey"},
    {"STACKGATE_TRACKER_ENTITY", customizer, "experimentTracker.entity"},
    {"STACKGATE_TRACKER_PROJECT", customizer, "experimentTracker.projectName"},

    {"STACKGATE_IMAGE", evaluator, "image"},
    {"STACKGATE_IMAGE_PULL_SECRETS", evaluator, "image.pullSecrets"},
    {"STACKGATE_WORKFLOW_SERVER_URL", evaluator, "workflowServer.endpoint"},
    {"STACKGATE_WORKFLOW_SERVICE_ACCOUNT", evaluator, "workflowServer.serviceAccount"},
    {"STACKGATE_VECTOR_DB_URL", evaluator, "vectorDB.endpoint"},
    {"STACKGATE_EVAL_LOG_LEVEL", evaluator, "evalLogLevel"},
    {"STACKGATE_LOG_HANDLERS", evaluator, "logHandlers"},
    {"STACKGATE_CONSOLE_LOG_LEVEL", evaluator, "consoleLogLevel"},
    {"STACKGATE_ENABLE_VALIDATION", evaluator, "enableValidation"},
    {"STACKGATE_EVALUATION_IMAGE_BIGCODE_EVAL_HARNESS", evaluator, "evaluationImages.bigcodeEvalHarness"},
    {"STACKGATE_EVALUATION_IMAGE_LM_EVAL_HARNESS", evaluator, "evaluationImages.lmEvalHarness"},
    {"STACKGATE_EVALUATION_IMAGE_SIMILARITY_METRICS", evaluator, "evaluationImages.similarityMetrics"},
    {"STACKGATE_EVALUATION_IMAGE_LLM_AS_JUDGE", evaluator, "evaluationImages.llmAsJudge"},
    {"STACKGATE_EVALUATION_IMAGE_MT_BENCH", evaluator, "evaluationImages.mtBench"},
    {"STACKGATE_EVALUATION_IMAGE_RETRIEVER", evaluator, "evaluationImages.retriever"},
    {"STACKGATE_EVALUATION_IMAGE_RAG", evaluator, "evaluationImages.rag"},
    {"STACKGATE_EVALUATION_IMAGE_BFCL", evaluator, "evaluationImages.bfcl"},
    {"STACKGATE_EVALUATION_IMAGE_AGENTIC_EVAL", evaluator, "evaluationImages.agenticEval"},

    {"STACKGATE_CONFIG_STORE", guardrail, "configStore"},
    {"STACKGATE_INFERENCE_URL", guardrail, "nimEndpoint.baseURL"},
    {"INFERENCE_ENDPOINT_API_KEY", guardrail, "nimEndpoint.apiKeySecret"},
};

bool applies(const ReservedVariable& variable, const Context& context, const Field& spec) {
  if ((variable.kinds & kind_bit(context.request.kind)) == 0) return false;
  switch (variable.when) {
    case Only::always:
      return true;
    case Only::with_cache:
      return spec["storage"]["nimCache"]["name"].present();
    case Only::with_multi_node:
      return spec["multiNode"].present();
    case Only::with_otel:
      return spec["otel"]["enabled"].flag().value_or(false);
  }
  return false;
}

/// A cheap test that most names fail: all reserved ones are longer than ten characters and begin with one of these.
bool may_be_reserved(std::string_view name) {
  return name.size() > 10 && std::string_view("RLOSGI").find(name.front()) != std::string_view::npos &&
         name.find('_') != std::string_view::npos;
}

}  // namespace reserved_env

void check_reserved_variable(Context& context, const Field& name, const Field& spec) {
  using namespace reserved_env;
  const auto text = name.text();
  if (!text || !may_be_reserved(*text)) return;
  const auto found = std::ranges::find(reserved_variables, *text, &ReservedVariable::name);
  if (found == std::ranges::end(reserved_variables) || !applies(*found, context, spec)) return;
  context.report(rule::env_reserved, name, "the operator sets this variable itself",
                 fmt::format("take it out; it comes from {}", found->from));
}

void check_reserved_env(Context& context, const Field& spec) {
  using namespace reserved_env;
  const Field env = spec["env"];
  if (env.absent()) return;
  std::size_t index = 0;
  for (const json::Value& item : env.value()->items()) {
    const std::size_t at = index++;
    if (may_be_reserved(json::text(&item, {"name"}))) check_reserved_variable(context, env.at(at)["name"], spec);
  }
}

// Sources: the ServiceAccount controller makes "default" in every namespace and makes it anew when it is deleted
// (kubernetes.io, "Managing Service Accounts"); kube-apiserver keeps the Service "kubernetes" in namespace "default".
void check_reserved_names(Context& context, const Field& name, const Field& spec, std::string_view ns) {
  const auto text = name.text();
  if (text == "default" && spec["serviceAccountName"].text().value_or("").empty() &&
      !spec.has_misspelt("serviceAccountName"))
    context.report(rule::name_reserved, name,
                   "every namespace has a ServiceAccount of this name already, which is not the operator's to change",
                   "choose another name, or name the ServiceAccount to use in serviceAccountName");
  if (text == "kubernetes" && ns == "default")
    context.report(rule::name_reserved, name, "in this namespace the API server has its own Service under this name",
                   "choose another name, or another namespace");
}

}  // namespace stackgate::validate
