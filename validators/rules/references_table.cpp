#include "validators/rules/references_table.hpp"

namespace stackgate::validate {
namespace reference_table {

using namespace kind_bits;

constexpr std::uint8_t workloads = service | stack;

constexpr std::string_view pull_type = "kubernetes.io/dockerconfigjson";
constexpr std::string_view tls_type = "kubernetes.io/tls";

using enum ReferenceKind;
using enum Demand;

/// The row, of what pods that serve read.
constexpr ReferenceRow restarts(ReferenceRow row) {
  row.restarts = true;
  return row;
}

/// The row, of what those pods read again themselves.
constexpr ReferenceRow reloaded(ReferenceRow row) {
  row.reloaded = true;
  return restarts(row);
}

// An InferencePipeline has the rows of an InferenceService for each of its enabled services.
constexpr ReferenceRow rows[] = {
    // What all workloads share.
    {workloads, "image.pullSecrets[]", secret, other, Keys::none, {}, pull_type},
    {workloads,
     "expose.ingress.tlsSecretName",
     secret,
     other,
     Keys::fixed,
     {"tls.crt", "tls.key"},
     tls_type,
     When::enabled},
    {workloads, "serviceAccountName", service_account, other},
    {workloads, "priorityClassName", priority_class, other},
    {workloads, "runtimeClassName", runtime_class, other},
    restarts(
        {workloads, "env[].valueFrom.secretKeyRef.name", secret, other, Keys::written, {"key"}, {}, When::mandatory}),
    restarts({workloads,
              "env[].valueFrom.configMapKeyRef.name",
              config_map,
              other,
              Keys::written,
              {"key"},
              {},
              When::mandatory}),
    restarts({stack, "databaseConfig.credentials.secretName", secret, required, Keys::written, {"passwordKey"}}),

    restarts({service, "authSecret", secret, required, Keys::fixed, {"REGISTRY_API_KEY"}}),
    {service, "storage.nimCache.name", inference_cache, other},

    {cache, "source.registry.authSecret", secret, required, Keys::fixed, {"REGISTRY_API_KEY"}},
    {cache, "source.registry.pullSecret", secret, other, Keys::none, {}, pull_type},
    {cache, "source.datastore.authSecret", secret, other, Keys::fixed, {"DATASTORE_USERNAME", "DATASTORE_PASSWORD"}},
    {cache, "proxy.caConfigMap", config_map, other, Keys::any},
    {cache, "storage.pvc.name", persistent_volume_claim, other, Keys::none, {}, {}, When::not_created},
    {cache, "storage.pvc.storageClass", storage_class, other, Keys::none, {}, {}, When::created},

    restarts({datastore,
              "secrets.gitAdminSecret",
              secret,
              required,
              Keys::fixed,
              {"GIT_ADMIN_USERNAME", "GIT_ADMIN_PASSWORD"}}),
    restarts({datastore, "secrets.lfsJwtSecret", secret, required, Keys::fixed, {"jwtSecret"}}),
    restarts({datastore, "secrets.datastoreConfigSecret", secret, required, Keys::fixed, {"config_environment.sh"}}),
    restarts({datastore, "secrets.datastoreInitSecret", secret, required, Keys::any}),
    restarts({datastore, "secrets.datastoreInlineConfigSecret", secret, required, Keys::any}),
    restarts({datastore, "objectStoreConfig.credentials.secretName", secret, required, Keys::written, {"passwordKey"}}),
    {datastore, "pvc.name", persistent_volume_claim, required, Keys::none, {}, {}, When::not_created},
    {datastore, "pvc.storageClass", storage_class, other, Keys::none, {}, {}, When::created},

    restarts(
        {customizer, "experimentTracker.secretName", secret, other, Keys::written, {"apiKeyKey", "encryptionKey"}}),
    {customizer, "modelDownloadJobs.registryApiSecret.name", secret, other, Keys::written, {"key"}},
    restarts({customizer, "modelConfig.name", config_map, other, Keys::any}),
    restarts({customizer, "trainingConfig.configMap.name", config_map, other, Keys::any}),
    {customizer,
     "trainingConfig.modelPVC.name",
     persistent_volume_claim,
     required,
     Keys::none,
     {},
     {},
     When::not_created},
    {customizer, "trainingConfig.modelPVC.storageClass", storage_class, other, Keys::none, {}, {}, When::created},
    {customizer, "trainingConfig.workspacePVC.storageClass", storage_class, other},

    {evaluator, "workflowServer.serviceAccount", service_account, other},

    restarts({guardrail, "nimEndpoint.apiKeySecret", secret, other, Keys::written, {"apiKeyKey"}}),
    reloaded({guardrail, "configStore.configMap.name", config_map, required, Keys::flat, {"config.yml"}}),
    {guardrail, "configStore.pvc.name", persistent_volume_claim, required, Keys::none, {}, {}, When::not_created},
    {guardrail, "configStore.pvc.storageClass", storage_class, other, Keys::none, {}, {}, When::created},
};

}  // namespace reference_table

bool counts(When when, const Field& parent) {
  switch (when) {
    case When::always:
      return true;
    case When::created:
      return parent["create"].flag().value_or(false);
    case When::not_created:
      return !parent["create"].flag().value_or(false);
    case When::enabled:
      return parent["enabled"].flag().value_or(false);
    case When::mandatory:
      return !parent["optional"].flag().value_or(false);
  }
  return true;
}

std::span<const ReferenceRow> reference_rows() { return reference_table::rows; }

}  // namespace stackgate::validate
