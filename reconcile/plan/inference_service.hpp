// An InferenceService as children: one server on one node, or a group of pods on several.
#pragma once
#include <string_view>

#include "reconcile/plan/parts/outcome.hpp"
#include "reconcile/plan/parts/workload.hpp"

namespace stackgate::reconcile::inference_service {

using validate::Field;

inline constexpr std::string_view cache_volume = "model-cache";
inline constexpr std::string_view cache_path = "/model-store";
/// On the pods of a group; a Service must not send requests to workers.
inline constexpr std::string_view role_label = "stackgate.dev/role";
inline constexpr std::string_view leader_role = "leader", worker_role = "worker";

/// The pods of the server: image, GPUs, probes, /dev/shm, the model's cache, the registry key.
parts::Workload read_server(const parts::Scope& scope);

// --- An InferenceService on several nodes: a LeaderWorkerSet whose groups find each other by an MPI host file ---
// Source: https://lws.sigs.k8s.io/docs/reference/leaderworkerset.v1/
//
//   LeaderWorkerSet <name>-lws       `replicas` groups of `size` pods; its controller makes a headless Service of that
//                                    name, which is why it is not called like the resource
//   ConfigMap <name>-mpi-config      hostfile-<group> for each group, mounted at /etc/mpi
//   Secret <name>-ssh-pk             the key pair by which the leader starts processes on its workers

/// Whether the service runs in groups; a group of one pod is a Deployment.
bool has_nodes(const parts::Scope& scope);
std::string group_set_name(const parts::Scope& scope);
/// Labels of the pods that answer requests.
pods::TextMap leader_labels(const parts::Scope& scope);

/// ConfigMap, Secret and LeaderWorkerSet. What stands in the way of them is put into `outcome`.
void add_nodes(const parts::Scope& scope, const parts::Workload& server, parts::Outcome& outcome);

}  // namespace stackgate::reconcile::inference_service
