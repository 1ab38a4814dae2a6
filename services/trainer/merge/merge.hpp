// An adapter's change written into its base model's weights: a model that needs no adapter.
#pragma once
#include <string>

#include "services/trainer/training/failure.hpp"

namespace stackgate::trainer {

struct MergeSettings {
  std::string model, adapter, output;
};

/// W + scale·B·A, in the files and types of the base; its other files are copied. `output` is there when it is whole.
Result<Ending> merge(const MergeSettings& settings);

}  // namespace stackgate::trainer
