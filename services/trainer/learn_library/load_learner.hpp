// The learner out of libstackgate-learner.so, so that only a run whose input is right loads libtorch.
#pragma once
#include <string>

#include "services/trainer/learn/group.hpp"
#include "services/trainer/learn/learner.hpp"

namespace stackgate::trainer {

/// Beside this program, or in ../lib/stackgate from there.
std::string default_learner_library();

/// Both open the shared object when they are called.
OpenLearner learner_of_library(std::string path);
OpenGroup group_of_library(std::string path);

}  // namespace stackgate::trainer
