// Checkpoints of a run, DIR/checkpoint-<step>: written beside, synced, renamed, the newest two kept. Whatever stops a
// run, the newest whole one is whole.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/trainer/checkpoint/durable.hpp"
#include "services/trainer/checkpoint/state.hpp"
#include "services/trainer/optimizer/adamw.hpp"
#include "services/trainer/optimizer/parameter.hpp"

namespace stackgate::trainer {

/// For tests: called between the steps of writing ("checkpoint-written", "checkpoint-moved").
using FailPoint = std::function<void(std::string_view)>;

/// The directory that was made.
std::expected<std::string, std::string> save_checkpoint(const std::string& directory, const TrainingState& state,
                                                        std::span<const Parameter> parameters,
                                                        std::span<const float> values, const Moments& moments,
                                                        std::string_view adapter_config, const FailPoint& fail_point);

/// The newest whole checkpoint; nothing where there is none.
std::optional<std::string> newest_checkpoint(const std::string& directory);

/// `moments` must have the length of `values`. Reads nothing into them when the state is not of `fingerprint`.
std::expected<TrainingState, std::string> load_checkpoint(const std::string& checkpoint, std::uint64_t fingerprint,
                                                          std::span<const Parameter> parameters,
                                                          std::span<float> values, Moments& moments);

}  // namespace stackgate::trainer
