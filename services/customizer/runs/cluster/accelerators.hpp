// Whether a model fits into the accelerators of the cluster's nodes, as far as both are known. Pure and thread-safe.
#pragma once
#include <cstdint>

#include "services/customizer/objects/plan.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::customizer {

/// What a process needs at least, in bytes: the weights, and a fifth more for the adapter, its optimizer and what is
/// computed. 0: not known.
std::uint64_t estimated_memory(const Target& target);

/// `nodes` is a NodeList, all of them or nothing is known. A warning where each node that has the trainings'
/// accelerators, and may be chosen, has less memory on one of them than the estimate. How much that is is read from
/// labels: <resource>.memory in MiB, as NVIDIA's feature discovery writes it, or <resource's domain>/gpu.vram, as AMD's
/// does. Sources: https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery,
/// https://github.com/ROCm/k8s-device-plugin/tree/master/cmd/k8s-node-labeller
validate::Findings judge_accelerators(const json::Value& nodes, const TrainingJob& job,
                                      const ContainerDefaults& defaults);

}  // namespace stackgate::customizer
