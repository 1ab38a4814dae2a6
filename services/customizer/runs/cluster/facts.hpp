// What is known of the cluster before a customization is stored, and what that means. Pure.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "services/customizer/setup/setup.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/kube/object.hpp"
#include "services/kit/kube/resource.hpp"

namespace stackgate::customizer {

/// Of one object: not known, not there, or as it is.
struct Fact {
  bool is_known = false;
  std::shared_ptr<const kube::Object> object{};
};

struct ClusterFacts {
  std::optional<bool> serves_trainings{};  // nothing: not known
  Fact queue{}, model_claim{}, storage_class{};
  Fact cluster_queue{};  // Kueue: that the LocalQueue names
};

/// The queue object of a scheduler; nothing: there is none, or its scheduler has none that we know.
struct QueueObject {
  kube::ResourceType type;
  std::string name{};
};
std::optional<QueueObject> queue_object(const JobSetup& setup);

/// Kueue: what a LocalQueue takes from.
inline constexpr kube::ResourceType cluster_queues{"kueue.x-k8s.io", "v1beta1", "clusterqueues", false};
std::string_view cluster_queue_of(const json::Value& local_queue);

/// Errors: no training can run as it is now.
validate::Findings judge_cluster(const ClusterFacts& facts, const JobSetup& setup);

}  // namespace stackgate::customizer
