// The settings of stackgate-trainer. Scripts and the customizer rely on the flags.
#pragma once
#include <optional>

#include "services/kit/settings/settings.hpp"
#include "services/trainer/merge/merge.hpp"
#include "services/trainer/tiny/make_tiny.hpp"
#include "services/trainer/training/train.hpp"

namespace stackgate::trainer {

settings::Program program();

/// What is missing for the command, or does not fit together, all at once.
validate::Findings faults_of(const settings::Values& values);

/// But for the hyperparameters, which --config names.
/// --device, whatever the settings of who opens it say.
OpenLearner on_device_of(const settings::Values& values, OpenLearner open);
TrainSettings train_settings(const settings::Values& values);
/// Absent where somebody else keeps the record: the customizer, that gets the progress.
std::optional<TrackingSettings> tracking_settings(const settings::Values& values);
MergeSettings merge_settings(const settings::Values& values);
TinySettings tiny_settings(const settings::Values& values);

}  // namespace stackgate::trainer
