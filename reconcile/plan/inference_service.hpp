// An InferenceService as children: one server on one node, or a group of pods on several.
#pragma once
#include <string_view>

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

}  // namespace stackgate::reconcile::inference_service
