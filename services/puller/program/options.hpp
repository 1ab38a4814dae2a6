// The settings of stackgate-puller: flags for people, and the variables that Jobs give it: the operator's of an
// InferenceCache (reconcile/plan/inference_cache.cpp) and the customizer's upload; tests compare both sides.
#pragma once
#include <functional>
#include <string>

#include "services/kit/settings/settings.hpp"
#include "services/puller/transfer/pull.hpp"
#include "services/puller/upload/upload.hpp"

namespace stackgate::puller {

settings::Program program();

/// What is asked for; all that does not fit together is findings. Pure but for the certificates, which it does not
/// read.
struct Asked {
  PullSettings pull{};
  validate::Findings findings{};
};
Asked asked_of(const settings::Values& values);

/// The same of the command `upload`.
struct AskedUpload {
  UploadSettings upload{};
  validate::Findings findings{};
};
AskedUpload asked_upload_of(const settings::Values& values);

/// PEM of --ca-file and of all files in --ca-dir behind the system's authorities; empty without either.
Result<std::string> authorities(const settings::Values& values);

}  // namespace stackgate::puller
