// The customizer's training jobs.
#pragma once
#include "validators/rules/context.hpp"

namespace stackgate::validate {

/// `spec.trainingConfig`, without its queue and its claims' access modes.
void check_training(Context& context, Field training);

}  // namespace stackgate::validate
