// The kinds of objects that the operator makes: one table for the plan, the watches, the writes and the rights.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "services/kit/kube/resource.hpp"

namespace stackgate::reconcile {

/// In the order in which a resource's children are made: what others mount or refer to comes first.
enum class ChildType : std::uint8_t {
  service_account,
  role,
  role_binding,
  config_map,
  secret,
  persistent_volume_claim,
  service,
  deployment,
  leader_worker_set,
  job,
  ingress,
  http_route,
  horizontal_pod_autoscaler,
  service_monitor,
  inference_service,  // of a pipeline
};
inline constexpr std::size_t child_type_count = 15;

/// What is watched of a type beside the spec of the objects that are labelled as ours.
struct Watched {
  bool status = false;
  bool whole = false;  // all its objects, as cluster::State does: the watch is shared
};

struct ChildTypeInfo {
  ChildType type;
  kube::ResourceType resource;  // of a horizontal_pod_autoscaler: the oldest version with metrics; see Served
  std::string_view kind;
  std::string_view api_version;
  /// Empty for what every API server has; otherwise the name of the CRD that brings it.
  std::string_view crd;
  Watched watched = {};
};

inline constexpr std::array<ChildTypeInfo, child_type_count> child_types{{
    {ChildType::service_account, {"", "v1", "serviceaccounts"}, "ServiceAccount", "v1", {}, {.whole = true}},
    {ChildType::role, {"rbac.authorization.k8s.io", "v1", "roles"}, "Role", "rbac.authorization.k8s.io/v1", {}},
    {ChildType::role_binding,
     {"rbac.authorization.k8s.io", "v1", "rolebindings"},
     "RoleBinding",
     "rbac.authorization.k8s.io/v1",
     {}},
    {ChildType::config_map, {"", "v1", "configmaps"}, "ConfigMap", "v1", {}, {.whole = true}},
    {ChildType::secret, {"", "v1", "secrets"}, "Secret", "v1", {}, {.whole = true}},
    {ChildType::persistent_volume_claim,
     {"", "v1", "persistentvolumeclaims"},
     "PersistentVolumeClaim",
     "v1",
     {},
     {.status = true, .whole = true}},
    {ChildType::service, {"", "v1", "services"}, "Service", "v1", {}},
    {ChildType::deployment, {"apps", "v1", "deployments"}, "Deployment", "apps/v1", {}, {.status = true}},
    {ChildType::leader_worker_set,
     {"leaderworkerset.x-k8s.io", "v1", "leaderworkersets"},
     "LeaderWorkerSet",
     "leaderworkerset.x-k8s.io/v1",
     "leaderworkersets.leaderworkerset.x-k8s.io",
     {.status = true}},
    {ChildType::job, {"batch", "v1", "jobs"}, "Job", "batch/v1", {}, {.status = true}},
    {ChildType::ingress, {"networking.k8s.io", "v1", "ingresses"}, "Ingress", "networking.k8s.io/v1", {}},
    {ChildType::http_route,
     {"gateway.networking.k8s.io", "v1", "httproutes"},
     "HTTPRoute",
     "gateway.networking.k8s.io/v1",
     "httproutes.gateway.networking.k8s.io"},
    {ChildType::horizontal_pod_autoscaler,
     {"autoscaling", "v2", "horizontalpodautoscalers"},
     "HorizontalPodAutoscaler",
     "autoscaling/v2",
     {}},
    {ChildType::service_monitor,
     {"monitoring.coreos.com", "v1", "servicemonitors"},
     "ServiceMonitor",
     "monitoring.coreos.com/v1",
     "servicemonitors.monitoring.coreos.com"},
    {ChildType::inference_service,
     {"stackgate.dev", "v1alpha1", "inferenceservices"},
     "InferenceService",
     "stackgate.dev/v1alpha1",
     "inferenceservices.stackgate.dev",
     {.status = true, .whole = true}},
}};

constexpr const ChildTypeInfo& info(ChildType type) { return child_types[static_cast<std::size_t>(type)]; }

}  // namespace stackgate::reconcile
