// The settings of stackgate-trainer. Scripts and the customizer rely on the flags.
#pragma once
#include "services/kit/settings/settings.hpp"
#include "services/trainer/merge/merge.hpp"
#include "services/trainer/tiny/make_tiny.hpp"
#include "services/trainer/training/train.hpp"

namespace stackgate::trainer {

settings::Program program();

/// What is missing for the command, all at once.
validate::Findings missing_settings(const settings::Values& values);

/// But for the hyperparameters, which --config names.
TrainSettings train_settings(const settings::Values& values);
MergeSettings merge_settings(const settings::Values& values);
TinySettings tiny_settings(const settings::Values& values);

}  // namespace stackgate::trainer
