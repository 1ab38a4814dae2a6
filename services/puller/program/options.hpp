// The settings of stackgate-puller: flags for people, and the variables that the operator gives the Job of an
// InferenceCache (reconcile/plan/inference_cache.cpp; tests/puller/program compares the two).
#pragma once
#include <functional>
#include <string>

#include "services/kit/settings/settings.hpp"
#include "services/puller/transfer/pull.hpp"

namespace stackgate::puller {

settings::Program program();

/// What is asked for; all that does not fit together is findings. Pure but for the certificates, which it does not
/// read.
struct Asked {
  PullSettings pull{};
  validate::Findings findings{};
};
Asked asked_of(const settings::Values& values);

/// PEM of --ca-file and of all files in --ca-dir behind the system's authorities; empty without either.
Result<std::string> authorities(const settings::Values& values);

}  // namespace stackgate::puller
