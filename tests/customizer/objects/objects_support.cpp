#include "tests/customizer/objects/objects_support.hpp"

namespace stackgate::customizer::tests {

JobSetup full_setup(Scheduler scheduler) {
  JobSetup out{
      .owner = {"stackgate.dev/v1alpha1", "StackCustomizer", "customizer", "0e8dd0b4-4ee3-4d4c-8f43-6f1a7a3e1c11"},
      .scheduler = scheduler,
      .queue = scheduler == Scheduler::plain ? "" : "research",
      .pull_secrets = {"registry-pull"},
      .tools_image = "registry.example.com/stackgate/puller:0.1.0"};
  out.tools_env = {pods::env_from_secret("DATASTORE_USERNAME", "datastore-admin", "GIT_ADMIN_USERNAME"),
                   pods::env_from_secret("DATASTORE_PASSWORD", "datastore-admin", "GIT_ADMIN_PASSWORD")};
  out.model_download = {.image = "registry.example.com/stackgate/puller:0.1.0",
                        .api_key = {"registry-api", "REGISTRY_API_KEY"},
                        .security_context = R"({"fsGroup":1000,"runAsUser":1000})",
                        .ttl_seconds = 600};
  out.model_claim = {.name = "customizer-models", .access_mode = "ReadWriteMany", .sub_path = "models"};
  out.workspace = {
      .storage_class = "fast", .access_mode = "ReadWriteOnce", .size = "50Gi", .mount_path = "/pvc/workspace"};
  out.training = {.image = "registry.example.com/stackgate/trainer:0.1.0",
                  .env = {pods::env_value("LOG_LEVEL", "INFO")},
                  .network_env = {pods::env_value("NCCL_IB_SL", "0"), pods::env_value("UCX_TLS", "TCP")},
                  .timeout_seconds = 86'400,
                  .ttl_seconds = 3600,
                  .tolerations = R"([{"effect":"NoSchedule","key":"nvidia.com/gpu","operator":"Exists"}])"};
  return out;
}

TrainingJob full_job() {
  TrainingJob out{.id = "cust-1a2b3c4d5e6f", .name = "support-bot"};
  out.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01";
  out.target = {.name = "meta/llama-3.2-1b@1.0",
                .base_model = "meta/llama-3.2-1b",
                .uri = *parse_model_uri("hf://meta-llama/Llama-3.2-1B@main"),
                .path = "llama-3.2-1b"};
  out.dataset_repository = "ada/tickets";
  out.dataset_commit = "3f786850e387550fdab836ed7e6dc881de23001b";
  out.training_files = {"training/a.jsonl", "training/b.jsonl"};
  out.validation_files = {"validation/c.jsonl"};
  out.progress_token = "very-secret-token";
  return out;
}

ContainerDefaults full_defaults() {
  return {.pull_policy = "IfNotPresent",
          .requests = {{"cpu", "4"}, {"memory", "32Gi"}},
          .limits = {{"memory", "64Gi"}},
          .shared_memory = "8Gi",
          .node_selector = R"({"pool":"training"})",
          .priority_class = "batch"};
}

Addresses addresses() {
  return {.kubernetes_namespace = "team",
          .callback_url = "http://customizer.team.svc:9009",
          .datastore_url = "http://datastore:8000",
          .entitystore_url = "http://entitystore:8000"};
}

}  // namespace stackgate::customizer::tests
