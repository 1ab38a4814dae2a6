// A setup and a job that use all that there is.
#pragma once
#include "services/customizer/objects/plan.hpp"

namespace stackgate::customizer::tests {

JobSetup full_setup(Scheduler scheduler);
TrainingJob full_job();
ContainerDefaults full_defaults();
Addresses addresses();

}  // namespace stackgate::customizer::tests
