// How jobs run, as the operator writes it: config.json of the ConfigMap <name>-jobs. Pure and thread-safe.
// Source: the table in reconcile/plan/CONTRACT.md; tests/customizer/setup holds both sides against each other.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "services/kit/pods/pod.hpp"

namespace stackgate::customizer {

/// The StackCustomizer: what jobs need goes with it.
struct Owner {
  std::string api_version{}, kind{}, name{}, uid{};
};

/// Who schedules trainings. The operator writes the first four (type gang; type queue with a dialect); `plain` is for
/// clusters without a scheduler of batches.
enum class Scheduler : std::uint8_t { volcano, runai, kai, kueue, plain };

inline constexpr std::array<std::string_view, 5> scheduler_names = {"Volcano", "Run:ai", "KAI", "Kueue", "Kubernetes"};
/// As people call it.
constexpr std::string_view to_string(Scheduler scheduler) {
  return scheduler_names.at(static_cast<std::size_t>(scheduler));
}

/// A key of a Secret; `secret` is empty for none.
struct SecretKey {
  std::string secret{}, key{};
};

struct ModelDownload {
  std::string image{};
  SecretKey api_key{};
  std::string security_context{};  // JSON of a pod's securityContext; empty: ours
  std::optional<std::uint32_t> ttl_seconds{}, poll_seconds{};
};

struct TrackerSetup {
  std::string secret{}, api_key_key{}, encryption_key_key{};
  std::string entity{}, project{};
};

struct ModelClaim {
  std::string name{}, access_mode{}, sub_path{};
};

/// Of a claim that each job gets.
struct WorkspaceSetup {
  std::optional<std::string> storage_class{};  // "": none; absent: the cluster's default
  std::string access_mode = "ReadWriteOnce", size = "10Gi", mount_path = "/workspace";
};

struct TrainingSetup {
  std::string image{};
  std::vector<pods::EnvVar> env{}, network_env{};
  std::optional<std::uint32_t> timeout_seconds{}, ttl_seconds{};
  std::string tolerations{};  // JSON list; empty for none
};

struct JobSetup {
  Owner owner{};
  Scheduler scheduler = Scheduler::volcano;
  std::string queue{};  // empty: the scheduler's default
  std::vector<std::string> pull_secrets{};
  std::string tools_image{};
  std::vector<pods::EnvVar> tools_env{};  // the datastore's credentials, by reference as a rule
  ModelDownload model_download{};
  std::optional<TrackerSetup> tracker{};
  ModelClaim model_claim{};
  WorkspaceSetup workspace{};
  TrainingSetup training{};
};

struct SetupRead {
  JobSetup setup{};               // to be used only when there are no errors
  validate::Findings findings{};  // paths: "config.json: training.image"; unknown members are warnings
};

/// Every fault at once.
SetupRead read_setup(std::string_view json);

/// Every member that the file may have, "training.image", lists without their items' members.
std::vector<std::string> setup_members();

}  // namespace stackgate::customizer
