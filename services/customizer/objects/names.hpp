// Names and labels of a customization's objects: made of its id, the stage and the attempt, so that whoever makes them
// again finds them there. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "services/customizer/catalogue/catalogue.hpp"
#include "services/customizer/job/customization.hpp"

namespace stackgate::customizer {

inline constexpr std::string_view customization_label = "stackgate.dev/customization";
inline constexpr std::string_view stage_label = "stackgate.dev/stage";
inline constexpr std::string_view attempt_label = "stackgate.dev/attempt";
inline constexpr std::string_view model_label = "stackgate.dev/model";

/// "download", "training", "upload"
std::string_view short_name(Stage stage);

/// The workspace's claim, the ConfigMap with the trainer's configuration, the Secret with the token: "cust-1a2b".
std::string object_name(std::string_view id);
/// The Job of a stage's attempt: "cust-1a2b-training-2".
std::string job_name(std::string_view id, Stage stage, std::uint32_t attempt);
/// The Job that downloads a base model, whoever asks for it: "model-0123456789abcdef", of its address and its place.
std::string model_job_name(const Target& target, std::string_view claim);

}  // namespace stackgate::customizer
