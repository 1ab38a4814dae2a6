// Who places the customizer's training jobs, and in which queue.
#pragma once
#include "validators/rules/context.hpp"

namespace stackgate::validate {

/// `spec.scheduler` and `spec.trainingConfig.queueName`.
void check_scheduler(Context& context, Field spec);

}  // namespace stackgate::validate
