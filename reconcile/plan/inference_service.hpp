// An InferenceService as children: one server on one node, or a group of pods on several.
#pragma once
#include <string_view>

#include "reconcile/plan/parts/workload.hpp"

namespace stackgate::reconcile::inference_service {

using validate::Field;

inline constexpr std::string_view cache_volume = "model-cache";
inline constexpr std::string_view cache_path = "/model-store";

/// The pods of the server: image, GPUs, probes, /dev/shm, the model's cache, the registry key.
parts::Workload read_server(const parts::Scope& scope);

}  // namespace stackgate::reconcile::inference_service
