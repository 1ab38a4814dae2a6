// The kinds of objects that the operator makes: one table for the plan, the watches, the writes and the rights.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "crds/kinds.hpp"
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
  std::string_view api_version;  // of a horizontal_pod_autoscaler: the oldest version with metrics; see Served
  std::string_view kind;
  std::string_view plural;
  Watched watched = {};
  bool optional = false;  // its definition may not be there: see by_definition

  constexpr kube::ResourceType resource() const {
    const std::size_t slash = api_version.find('/');
    const bool core = slash == std::string_view::npos;
    return {core ? std::string_view() : api_version.substr(0, slash),
            core ? api_version : api_version.substr(slash + 1), plural};
  }
};

/// A CustomResourceDefinition brings the type.
inline constexpr bool by_definition = true;

inline constexpr std::array<ChildTypeInfo, child_type_count> child_types{{
    {ChildType::service_account, "v1", "ServiceAccount", "serviceaccounts", {.whole = true}},
    {ChildType::role, "rbac.authorization.k8s.io/v1", "Role", "roles"},
    {ChildType::role_binding, "rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"},
    {ChildType::config_map, "v1", "ConfigMap", "configmaps", {.whole = true}},
    {ChildType::secret, "v1", "Secret", "secrets", {.whole = true}},
    {ChildType::persistent_volume_claim,
     "v1",
     "PersistentVolumeClaim",
     "persistentvolumeclaims",
     {.status = true, .whole = true}},
    {ChildType::service, "v1", "Service", "services"},
    {ChildType::deployment, "apps/v1", "Deployment", "deployments", {.status = true}},
    {ChildType::leader_worker_set,
     "leaderworkerset.x-k8s.io/v1",
     "LeaderWorkerSet",
     "leaderworkersets",
     {.status = true},
     by_definition},
    {ChildType::job, "batch/v1", "Job", "jobs", {.status = true}},
    {ChildType::ingress, "networking.k8s.io/v1", "Ingress", "ingresses"},
    {ChildType::http_route, "gateway.networking.k8s.io/v1", "HTTPRoute", "httproutes", {}, by_definition},
    {ChildType::horizontal_pod_autoscaler, "autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"},
    {ChildType::service_monitor, "monitoring.coreos.com/v1", "ServiceMonitor", "servicemonitors", {}, by_definition},
    {ChildType::inference_service,
     crds::api_group_version,
     crds::info(crds::Kind::inference_service).name,
     crds::info(crds::Kind::inference_service).plural,
     {.status = true, .whole = true},
     by_definition},
}};

constexpr const ChildTypeInfo& info(ChildType type) { return child_types[static_cast<std::size_t>(type)]; }

}  // namespace stackgate::reconcile
