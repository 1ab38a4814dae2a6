// What the specification says about fields, held against the schemas.
#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "services/kit/json/write.hpp"
#include "tests/crds/definitions.hpp"

namespace stackgate::crds {
namespace {

using ::testing::ElementsAreArray;
using enum Kind;

struct Keyword {
  Kind kind;
  const char* path;
  const char* keyword;
  const char* json;  // its value; empty: the keyword is not there
};

void PrintTo(const Keyword& row, std::ostream* out) {
  *out << info(row.kind).name << "." << row.path << " " << row.keyword;
}

class Schema : public ::testing::TestWithParam<Keyword> {};

TEST_P(Schema, says_what_the_specification_says) {
  const auto& [kind, path, keyword, wanted] = GetParam();
  const json::Value* schema = schema_at(kind, path);
  ASSERT_NE(schema, nullptr) << "no such field";
  const json::Value* value = schema->find(keyword);
  EXPECT_EQ(value == nullptr ? "" : json::to_json(*value), wanted);
}

constexpr const char* workload_states = R"(["Ready","NotReady","Pending","Failed","Unknown"])";

INSTANTIATE_TEST_SUITE_P(
    States, Schema,
    ::testing::Values(Keyword{inference_service, "status.state", "enum", workload_states},
                      Keyword{
                          inference_cache, "status.state", "enum",
                          R"(["Ready","NotReady","InProgress","Failed","PVCCreated","Pending","Started","Unknown"])"},
                      Keyword{inference_pipeline, "status.state", "enum", R"(["Ready","NotReady","Failed","Unknown"])"},
                      Keyword{stack_datastore, "status.state", "enum", workload_states},
                      Keyword{stack_entitystore, "status.state", "enum", workload_states},
                      Keyword{stack_customizer, "status.state", "enum", workload_states},
                      Keyword{stack_evaluator, "status.state", "enum", workload_states},
                      Keyword{stack_guardrail, "status.state", "enum", workload_states},
                      Keyword{inference_service, "status.availableReplicas", "type", R"("integer")"},
                      Keyword{inference_cache, "status.pvc", "type", R"("string")"},
                      Keyword{inference_cache, "status.progress.percent", "maximum", "100"},
                      Keyword{inference_cache, "status.progress.downloadedBytes", "format", R"("int64")"},
                      Keyword{inference_cache, "status.progress.totalBytes", "format", R"("int64")"},
                      Keyword{inference_cache, "status.profiles", "x-kubernetes-list-type", R"("map")"},
                      Keyword{inference_pipeline, "status.services{}", "enum", workload_states}));

INSTANTIATE_TEST_SUITE_P(
    Required, Schema,
    ::testing::Values(
        Keyword{inference_service, "spec", "required", R"(["image","authSecret","resources"])"},
        Keyword{inference_service, "spec.image", "required", R"(["repository","tag"])"},
        Keyword{inference_service, "spec.storage.nimCache", "required", R"(["name"])"},
        Keyword{inference_cache, "spec", "required", R"(["source","storage"])"},
        Keyword{inference_cache, "spec.storage", "required", R"(["pvc"])"},
        Keyword{inference_pipeline, "spec", "required", R"(["services"])"},
        Keyword{inference_pipeline, "spec.services[]", "required", R"(["name","spec"])"},
        Keyword{inference_pipeline, "spec.services[].spec", "required", R"(["image","authSecret","resources"])"},
        Keyword{stack_datastore, "spec", "required", R"(["secrets"])"},
        Keyword{stack_datastore, "spec.image", "required", ""},
        Keyword{
            stack_datastore, "spec.secrets", "required",
            R"(["gitAdminSecret","lfsJwtSecret","datastoreConfigSecret","datastoreInitSecret","datastoreInlineConfigSecret"])"},
        Keyword{stack_datastore, "spec.objectStoreConfig", "required", R"(["credentials","endpoint","bucketName"])"},
        Keyword{stack_entitystore, "spec", "required", R"(["datastore","databaseConfig"])"},
        Keyword{stack_entitystore, "spec.databaseConfig", "required", R"(["host","databaseName","credentials"])"},
        Keyword{stack_entitystore, "spec.databaseConfig.credentials", "required",
                R"(["user","secretName","passwordKey"])"},
        Keyword{stack_customizer, "spec", "required",
                R"(["databaseConfig","entitystore","datastore","trackingServer","trainingConfig"])"},
        Keyword{stack_customizer, "spec.trainingConfig", "required", R"(["modelPVC","workspacePVC"])"},
        Keyword{stack_evaluator, "spec", "required",
                R"(["workflowServer","vectorDB","datastore","entitystore","evaluationImages"])"},
        Keyword{stack_evaluator, "spec.workflowServer", "required", R"(["endpoint","serviceAccount"])"},
        Keyword{stack_guardrail, "spec", "required", R"(["nimEndpoint","configStore"])"},
        Keyword{stack_guardrail, "spec.nimEndpoint", "required", R"(["baseURL"])"},
        Keyword{stack_guardrail, "spec.configStore.configMap", "required", R"(["name"])"}));

INSTANTIATE_TEST_SUITE_P(
    Defaults, Schema,
    ::testing::Values(
        Keyword{stack_datastore, "spec.otel", "default", ""},  // nothing turns itself on
        Keyword{stack_datastore, "spec.otel.enabled", "default", "false"},
        Keyword{stack_datastore, "spec.otel.logLevel", "default", R"("INFO")"},
        Keyword{stack_datastore, "spec.otel.exporterConfig", "default", "{}"},
        Keyword{stack_datastore, "spec.otel.exporterConfig.tracesExporter", "default", R"("otlp")"},
        Keyword{stack_datastore, "spec.otel.exporterConfig.metricsExporter", "default", R"("otlp")"},
        Keyword{stack_datastore, "spec.otel.exporterConfig.logsExporter", "default", R"("otlp")"},
        Keyword{stack_datastore, "spec.otel.excludedUrls", "default", R"(["health"])"},
        Keyword{stack_datastore, "spec.otel.disableLogging", "default", "false"},
        Keyword{stack_datastore, "spec.objectStoreConfig.serveDirect", "default", "true"},
        Keyword{stack_customizer, "spec.scheduler", "default", "{}"},
        Keyword{stack_customizer, "spec.scheduler.type", "default", R"("gang")"},
        Keyword{stack_customizer, "spec.scheduler.queueDialect", "default", ""},  // it would clash with type gang
        Keyword{stack_customizer, "spec.modelDownloadJobs.registryApiSecret.key", "default", R"("REGISTRY_API_KEY")"},
        Keyword{stack_evaluator, "spec.evalLogLevel", "default", R"("INFO")"},
        Keyword{stack_evaluator, "spec.enableValidation", "default", "true"},
        Keyword{stack_guardrail, "spec.nimEndpoint.apiKeyKey", "default", R"("INFERENCE_ENDPOINT_API_KEY")"},
        Keyword{inference_pipeline, "spec.services[].enabled", "default", "true"},
        Keyword{inference_service, "spec.replicas", "default", ""},  // it would clash with scale
        Keyword{inference_service, "spec.scale.enabled", "default", "false"},
        Keyword{inference_service, "spec.expose.ingress.enabled", "default", "false"},
        Keyword{inference_service, "spec.expose.httpRoute.enabled", "default", "false"}));

INSTANTIATE_TEST_SUITE_P(
    Values, Schema,
    ::testing::Values(
        Keyword{inference_service, "spec.image.pullPolicy", "enum", R"(["Always","IfNotPresent","Never"])"},
        Keyword{inference_service, "spec.expose.service.type", "enum", R"(["ClusterIP","NodePort","LoadBalancer"])"},
        Keyword{inference_service, "spec.expose.service.port", "minimum", "1"},
        Keyword{inference_service, "spec.expose.service.port", "maximum", "65535"},
        Keyword{inference_service, "spec.replicas", "minimum", "0"},
        Keyword{stack_guardrail, "spec.replicas", "minimum", "0"},
        Keyword{inference_service, "spec.scale.minReplicas", "minimum", "1"},
        Keyword{inference_service, "spec.livenessProbe.probe.successThreshold", "maximum", "1"},
        Keyword{inference_service, "spec.startupProbe.probe.periodSeconds", "minimum", "1"},
        Keyword{inference_service, "spec.startupProbe.probe.initialDelaySeconds", "minimum", "0"},
        Keyword{stack_datastore, "spec.pvc.volumeAccessMode", "enum",
                R"(["ReadWriteOnce","ReadOnlyMany","ReadWriteMany","ReadWriteOncePod"])"},
        Keyword{stack_datastore, "spec.databaseConfig.port", "maximum", "65535"},
        Keyword{stack_datastore, "spec.otel.logLevel", "enum", R"(["INFO","DEBUG"])"},
        Keyword{stack_datastore, "spec.otel.exporterConfig.tracesExporter", "enum", R"(["otlp","console","none"])"},
        Keyword{stack_customizer, "spec.scheduler.type", "enum", R"(["gang","queue"])"},
        Keyword{stack_customizer, "spec.scheduler.queueDialect", "enum", R"(["runai","kai","kueue"])"},
        Keyword{stack_evaluator, "spec.evalLogLevel", "enum", R"(["INFO","DEBUG"])"},
        Keyword{inference_cache, "spec.source.registry.model.tensorParallelism", "type", R"("string")"},
        Keyword{inference_cache, "spec.userID", "minimum", "0"},
        Keyword{stack_datastore, "spec.pvc.storageClass", "minLength", ""},            // "" asks for no class
        Keyword{inference_service, "spec.storage.nimCache.profile", "minLength", ""},  // "" is allowed
        Keyword{inference_service, "spec.env[].value", "nullable", "true"},            // as in a pod
        Keyword{inference_service, "spec.nodeSelector{}", "nullable", "true"},
        Keyword{stack_datastore, "spec.databaseConfig.host", "nullable", ""}));

INSTANTIATE_TEST_SUITE_P(
    Lists, Schema,
    ::testing::Values(
        Keyword{inference_service, "spec.env", "x-kubernetes-list-type", R"("map")"},
        Keyword{inference_service, "spec.env", "x-kubernetes-list-map-keys", R"(["name"])"},
        Keyword{inference_service, "spec.image.pullSecrets", "x-kubernetes-list-type", R"("set")"},
        Keyword{inference_service, "spec.tolerations", "x-kubernetes-list-type", R"("atomic")"},
        Keyword{inference_service, "spec.nodeSelector", "x-kubernetes-map-type", R"("atomic")"},
        Keyword{inference_service, "spec.affinity", "x-kubernetes-map-type", R"("atomic")"},
        Keyword{inference_service, "spec.scale.metrics", "x-kubernetes-list-type", R"("atomic")"},
        Keyword{inference_service, "status.conditions", "x-kubernetes-list-map-keys", R"(["type"])"},
        Keyword{inference_pipeline, "spec.services", "x-kubernetes-list-map-keys", R"(["name"])"},
        Keyword{inference_pipeline, "spec.services[].dependencies", "x-kubernetes-list-type", R"("map")"},
        Keyword{stack_customizer, "spec.trainingConfig.env", "x-kubernetes-list-type", R"("map")"},
        Keyword{stack_customizer, "spec.trainingConfig.networkConfig", "x-kubernetes-list-type", R"("map")"},
        Keyword{stack_customizer, "spec.trainingConfig.tolerations", "x-kubernetes-list-type", R"("atomic")"}));

TEST(Status, has_what_every_kind_reports) {
  for (const KindInfo& kind : kinds) {
    EXPECT_EQ(schema_at(kind.kind, "status.observedGeneration")->find("format")->string(), "int64") << kind.name;
    EXPECT_EQ(schema_at(kind.kind, "status.conditions")->find("x-kubernetes-list-type")->string(), "map") << kind.name;
    for (const char* field : {"type", "status", "reason", "message", "lastTransitionTime", "observedGeneration"})
      EXPECT_NE(schema_at(kind.kind, std::string("status.conditions[].") + field), nullptr)
          << kind.name << " " << field;
  }
}

// The fields of the specification's tables, whichever fragment they come from.
struct Fields {
  Kind kind;
  const char* parent;
  std::vector<std::string> names;
};

void PrintTo(const Fields& row, std::ostream* out) { *out << info(row.kind).name << "." << row.parent; }

class Tables : public ::testing::TestWithParam<Fields> {};

TEST_P(Tables, are_complete_and_nothing_is_added) {
  const auto& [kind, parent, names] = GetParam();
  const json::Value* schema = schema_at(kind, parent);
  ASSERT_NE(schema, nullptr) << parent;
  std::vector<std::string> found;
  for (const json::Member& each : schema->find("properties")->members()) found.emplace_back(each.key);
  std::vector<std::string> wanted = names;
  std::ranges::sort(found);
  std::ranges::sort(wanted);
  EXPECT_THAT(found, ElementsAreArray(wanted)) << info(kind).name << "." << parent;
}

std::vector<std::string> with_pod_knobs(std::vector<std::string> names) {
  for (const char* knob : {"nodeSelector", "tolerations", "affinity", "labels", "annotations", "podSecurityContext",
                           "serviceAccountName", "priorityClassName", "runtimeClassName"})
    names.emplace_back(knob);
  return names;
}

std::vector<std::string> with_common(std::vector<std::string> names) {
  for (const char* common : {"image", "expose", "replicas", "resources", "env", "metrics", "otel"})
    names.emplace_back(common);
  return with_pod_knobs(std::move(names));
}

INSTANTIATE_TEST_SUITE_P(
    All, Tables,
    ::testing::Values(
        Fields{inference_service, "spec",
               with_pod_knobs({"image", "authSecret", "storage", "replicas", "resources", "expose", "env",
                               "startupProbe", "readinessProbe", "livenessProbe", "metrics", "multiNode", "scale"})},
        Fields{inference_service, "spec.storage", {"nimCache", "sharedMemorySizeLimit"}},
        Fields{inference_service,
               "spec.multiNode",
               {"size", "tensorParallelism", "pipelineParallelism", "mpiStartTimeoutSeconds", "schedulerName"}},
        Fields{inference_service, "spec.scale", {"enabled", "minReplicas", "maxReplicas", "metrics"}},
        Fields{inference_service,
               "spec.startupProbe.probe",
               {"initialDelaySeconds", "periodSeconds", "failureThreshold", "timeoutSeconds", "successThreshold"}},
        Fields{inference_service,
               "spec.expose.ingress",
               {"enabled", "className", "host", "path", "tlsSecretName", "annotations"}},
        Fields{inference_service, "spec.expose.httpRoute", {"enabled", "parentRefs", "hostnames"}},
        Fields{inference_cache,
               "spec",
               {"source", "storage", "proxy", "userID", "groupID", "resources", "tolerations", "nodeSelector"}},
        Fields{
            inference_cache, "spec.source.registry", {"modelPuller", "pullSecret", "authSecret", "endpoint", "model"}},
        Fields{inference_cache,
               "spec.source.registry.model",
               {"profiles", "engine", "tensorParallelism", "precision", "lora"}},
        Fields{inference_cache, "spec.source.datastore", {"endpoint", "repository", "revision", "authSecret"}},
        Fields{inference_cache, "spec.proxy", {"httpProxy", "httpsProxy", "noProxy", "caConfigMap"}},
        Fields{inference_cache, "status", {"observedGeneration", "conditions", "state", "pvc", "progress", "profiles"}},
        Fields{inference_pipeline, "spec.services[]", {"name", "enabled", "spec", "dependencies"}},
        Fields{inference_pipeline, "spec.services[].dependencies[]", {"name", "port", "envName", "envValue"}},
        Fields{stack_datastore, "spec", with_common({"pvc", "secrets", "databaseConfig", "objectStoreConfig"})},
        Fields{stack_datastore, "spec.pvc", {"name", "create", "storageClass", "volumeAccessMode", "size", "subPath"}},
        Fields{stack_datastore,
               "spec.objectStoreConfig",
               {"credentials", "endpoint", "bucketName", "region", "ssl", "serveDirect"}},
        Fields{stack_entitystore, "spec", with_common({"datastore", "databaseConfig"})},
        Fields{
            stack_customizer, "spec",
            with_common({"scheduler", "databaseConfig", "entitystore", "datastore", "trackingServer",
                         "experimentTracker", "datastoreTools", "modelDownloadJobs", "modelConfig", "trainingConfig"})},
        Fields{stack_customizer,
               "spec.experimentTracker",
               {"secretName", "apiKeyKey", "encryptionKey", "entity", "projectName"}},
        Fields{stack_customizer,
               "spec.modelDownloadJobs",
               {"image", "registryApiSecret", "securityContext", "ttlSecondsAfterFinished", "pollIntervalSeconds"}},
        Fields{stack_customizer,
               "spec.trainingConfig",
               {"configMap", "modelPVC", "workspacePVC", "image", "env", "networkConfig", "ttlSecondsAfterFinished",
                "timeout", "tolerations", "queueName"}},
        Fields{stack_customizer,
               "spec.trainingConfig.workspacePVC",
               {"storageClass", "volumeAccessMode", "size", "mountPath"}},
        Fields{stack_evaluator, "spec",
               with_common({"workflowServer", "vectorDB", "datastore", "entitystore", "databaseConfig", "evalLogLevel",
                            "logHandlers", "consoleLogLevel", "enableValidation", "evaluationImages"})},
        Fields{stack_evaluator,
               "spec.evaluationImages",
               {"bigcodeEvalHarness", "lmEvalHarness", "similarityMetrics", "llmAsJudge", "mtBench", "retriever", "rag",
                "bfcl", "agenticEval"}},
        Fields{stack_guardrail, "spec", with_common({"nimEndpoint", "configStore", "databaseConfig"})},
        Fields{stack_guardrail, "spec.nimEndpoint", {"baseURL", "apiKeySecret", "apiKeyKey"}},
        Fields{stack_guardrail,
               "spec.metrics.serviceMonitor",
               {"additionalLabels", "annotations", "interval", "scrapeTimeout"}}));

std::set<std::string> rule_ids(Kind kind) {
  std::set<std::string> ids;
  walk_schema(*root_schema(kind), "", [&](const std::string&, const json::Value& schema) {
    const json::Value* rules = schema.find("x-kubernetes-validations");
    if (rules == nullptr) return;
    for (const json::Value& rule : rules->items()) {
      const std::string_view message = rule.find("message")->string();
      const std::size_t open = message.rfind('[');
      ids.emplace(message.substr(open + 1, message.size() - open - 2));
    }
  });
  return ids;
}

TEST(Rules, stand_in_the_kinds_that_they_concern) {
  const auto with = [](std::set<std::string> a, const std::set<std::string>& b) {
    a.insert(b.begin(), b.end());
    return a;
  };
  const std::set<std::string> common{"gpu-requests-differ-from-limits", "resource-name", "toleration-key",
                                     "toleration-seconds", "toleration-value"};
  const std::set<std::string> workload = with(common, {"env-value-source", "env-value-twice", "ingress-and-route",
                                                       "name-reserved", "root-with-non-root", "seccomp-profile"});
  const std::set<std::string> server =
      with(workload, {"gpu-missing", "multinode-size-missing", "scale-bounds", "scale-max-missing",
                      "scale-excludes-multinode", "scale-excludes-replicas"});
  const std::set<std::string> stack = with(workload, {"otel-endpoint-missing", "url-user-info"});
  const std::set<std::string> claim{"pvc-create-incomplete", "pvc-name-missing"};
  EXPECT_EQ(rule_ids(inference_service), server);
  EXPECT_EQ(rule_ids(inference_pipeline),
            with(server, {"pipeline-dependency-disabled", "pipeline-dependency-unknown", "pipeline-env-pair"}));
  EXPECT_EQ(rule_ids(inference_cache), with(with(common, claim), {"cache-immutable", "cache-source-exactly-one",
                                                                  "cache-volume-read-only", "url-user-info"}));
  EXPECT_EQ(rule_ids(stack_datastore), with(with(stack, claim), {"datastore-replicas-without-volume"}));
  EXPECT_EQ(rule_ids(stack_entitystore), stack);
  EXPECT_EQ(rule_ids(stack_customizer),
            with(with(stack, claim), {"queue-dialect-needs-queue", "queue-name-missing", "tracker-incomplete"}));
  EXPECT_EQ(rule_ids(stack_evaluator), with(stack, {"evaluation-image-missing", "evaluator-datastore-suffix"}));
  EXPECT_EQ(rule_ids(stack_guardrail), with(with(stack, claim), {"configstore-exactly-one", "guardrail-base-url"}));
}

}  // namespace
}  // namespace stackgate::crds
