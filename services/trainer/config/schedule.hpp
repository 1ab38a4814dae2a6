// How many steps a run has, and the learning rate of each. Pure.
// Source: transformers' get_{constant,linear,cosine}_schedule_with_warmup.
#pragma once
#include <cstdint>

#include "services/model/hyperparameters/hyperparameters.hpp"

namespace stackgate::trainer {

struct Steps {
  std::uint64_t per_epoch = 0;  // the last one of an epoch may have fewer examples
  std::uint64_t total = 0;
};

Steps steps_of(const model::Hyperparameters& parameters, std::uint64_t examples);

/// Of step 0 … total - 1: from 0 up over ceil(warmup_ratio · total) steps, then down to 0 by the scheduler's curve.
double learning_rate(const model::Hyperparameters& parameters, std::uint64_t step, std::uint64_t total);

}  // namespace stackgate::trainer
