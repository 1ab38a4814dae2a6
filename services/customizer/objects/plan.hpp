// A customization as Kubernetes objects, stage by stage. Pure and thread-safe.
// Sources: services.md 3.2 and 3.3; Volcano's batch.volcano.sh/v1alpha1 Job, Kubernetes' batch/v1 Job, Kueue's and KAI
// Scheduler's pages on batch Jobs. tests/customizer/objects/golden shows what is written, for each scheduler.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/catalogue/catalogue.hpp"
#include "services/customizer/job/customization.hpp"
#include "services/customizer/setup/setup.hpp"
#include "services/kit/kube/resource.hpp"
#include "services/model/hyperparameters/hyperparameters.hpp"

namespace stackgate::customizer {

namespace types {
inline constexpr kube::ResourceType jobs{"batch", "v1", "jobs"};
inline constexpr kube::ResourceType volcano_jobs{"batch.volcano.sh", "v1alpha1", "jobs"};
inline constexpr kube::ResourceType pod_groups{"scheduling.volcano.sh", "v1beta1", "podgroups"};
inline constexpr kube::ResourceType workloads{"kueue.x-k8s.io", "v1beta1", "workloads"};
inline constexpr kube::ResourceType services{"", "v1", "services"};
}  // namespace types

/// Where pods find the other services.
struct Addresses {
  std::string kubernetes_namespace{};
  std::string callback_url{};  // "http://customizer.team.svc:9009"
  std::string datastore_url{}, entitystore_url{};
};

/// All of it is checked before: files have no ',' in their names, since lists of variables are cut there.
struct TrainingJob {
  std::string id{}, name{};
  Target target{};
  TrainingOption option{};
  model::Hyperparameters hyperparameters{};
  std::string dataset_repository{}, dataset_commit{};
  std::vector<std::string> training_files{}, validation_files{};  // of the repository
  std::string progress_token{};
  std::string traceparent{};  // of the request that created it: its pods work within that trace
};

struct PlannedObject {
  kube::ResourceType type;
  std::string name{};
  std::string body{};   // JSON
  bool shared = false;  // by several customizations: not deleted with one. One that has failed is made anew
};

/// What every pod of the customization needs: the workspace's claim, ConfigMap, Secret.
std::vector<PlannedObject> common_objects(const TrainingJob& job, const JobSetup& setup);

/// Jobs that fetch the dataset, and the model where it has an address.
std::vector<PlannedObject> download_objects(const TrainingJob& job, const JobSetup& setup, const Addresses& addresses,
                                            std::uint32_t attempt);

/// The training on the scheduler's terms, and what it needs to find itself.
std::vector<PlannedObject> training_objects(const TrainingJob& job, const JobSetup& setup,
                                            const ContainerDefaults& defaults, const Addresses& addresses,
                                            std::uint32_t attempt);

/// The Job that sends the adapter to the entitystore, with `metadata` (its POST's part of that name). `node` is where
/// the training's first pod ran, empty when that is not known or gone: a claim that one node may mount is there.
std::vector<PlannedObject> upload_objects(const TrainingJob& job, const JobSetup& setup, const Addresses& addresses,
                                          std::string_view metadata, std::string_view node, std::uint32_t attempt);

/// Paths in a training's pod.
struct WorkspacePaths {
  std::string dataset{}, output{}, archive{};
};
WorkspacePaths workspace_paths(const JobSetup& setup);

}  // namespace stackgate::customizer
