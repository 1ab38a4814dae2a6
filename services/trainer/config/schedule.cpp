#include "services/trainer/config/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stackgate::trainer {

Steps steps_of(const model::Hyperparameters& parameters, std::uint64_t examples) {
  Steps out;
  out.per_epoch = (examples + parameters.batch_size - 1) / parameters.batch_size;
  if (parameters.max_steps && !parameters.num_epochs)
    out.total = *parameters.max_steps;
  else
    out.total = std::min<std::uint64_t>(parameters.num_epochs.value_or(1) * out.per_epoch,
                                        parameters.max_steps.value_or(UINT32_MAX));
  return out;
}

double learning_rate(const model::Hyperparameters& parameters, std::uint64_t step, std::uint64_t total) {
  const double warmup = std::ceil(parameters.warmup_ratio * static_cast<double>(total));
  const auto at = static_cast<double>(step);
  if (at < warmup) return parameters.learning_rate * at / warmup;
  const double progress = (at - warmup) / std::max(1.0, static_cast<double>(total) - warmup);
  switch (parameters.lr_scheduler) {
    case model::Scheduler::linear:
      return parameters.learning_rate * std::max(0.0, 1 - progress);
    case model::Scheduler::cosine:
      return parameters.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, progress)));
    case model::Scheduler::constant:
      break;
  }
  return parameters.learning_rate;
}

}  // namespace stackgate::trainer
