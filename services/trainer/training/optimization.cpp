#include "services/trainer/training/optimization.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/trainer/config/schedule.hpp"
#include "services/trainer/data/random.hpp"

namespace stackgate::trainer {
namespace optimization_detail {

constexpr std::uint64_t usual_tokens = 2048;  // of a pass: enough for the products, little enough for the memory

}  // namespace optimization_detail

MicroBatches passes_of(const Hyperparameters& parameters, std::uint64_t most_tokens) {
  if (parameters.sequence_packing_enabled) return {.tokens = most_tokens, .packed = true};
  if (parameters.micro_batch_size) return {.examples = parameters.micro_batch_size, .tokens = UINT64_MAX};
  return {.tokens = std::max(optimization_detail::usual_tokens, most_tokens)};
}

Optimization::Optimization(Learner& learner, const Hyperparameters& parameters, std::span<const Example> examples,
                           std::uint64_t most_tokens, std::uint64_t per_epoch, std::uint64_t total)
    : learner_(learner),
      parameters_(parameters),
      examples_(examples),
      micro_(passes_of(parameters, most_tokens)),
      per_epoch_(per_epoch),
      total_(total),
      moments_{std::vector<float>(learner.values().size()), std::vector<float>(learner.values().size())} {}

std::vector<LearnedExample> Optimization::pass(std::span<const Example> from, std::span<const std::uint32_t> which,
                                               std::uint64_t step) const {
  std::vector<LearnedExample> out;
  for (const std::uint32_t i : which)
    out.push_back(
        {.ids = from[i].ids, .trained = from[i].trained, .dropout_key = key_of(parameters_.seed, 0x64726f70, step, i)});
  return out;
}

std::expected<StepOutcome, std::string> Optimization::step(std::uint64_t step) {
  const std::uint64_t epoch = step / per_epoch_, first = step % per_epoch_ * parameters_.batch_size;
  if (epoch != epoch_) {
    order_ = permutation(parameters_.seed, epoch, static_cast<std::uint32_t>(examples_.size()));
    epoch_ = epoch;
  }
  const auto batch =
      std::span(order_).subspan(first, std::min<std::uint64_t>(parameters_.batch_size, order_.size() - first));
  StepOutcome out{.learning_rate = learning_rate(parameters_, step, total_)};
  std::vector<std::uint32_t> lengths;
  for (const std::uint32_t i : batch) {
    lengths.push_back(static_cast<std::uint32_t>(examples_[i].ids.size()));
    out.tokens += lengths.back();
    out.trained_tokens += examples_[i].trained_tokens();
  }
  std::ranges::fill(learner_.gradients(), 0.0F);
  for (MicroBatch& each : micro_batches(lengths, micro_)) {
    for (std::uint32_t& i : each) i = batch[i];
    out.loss_sum += TRY(learner_.learn(pass(examples_, each, step), 1 / static_cast<double>(out.trained_tokens)));
  }
  out.grad_norm = norm(learner_.gradients());
  if (!std::isfinite(out.loss_sum) || !std::isfinite(out.grad_norm))
    return std::unexpected(
        fmt::format("the {} of step {} is no finite number: lower learning_rate, or look at the data",
                    std::isfinite(out.loss_sum) ? "gradient" : "loss", step + 1));
  clip(learner_.gradients(), out.grad_norm, parameters_.max_grad_norm);
  adamw(learner_.values(), learner_.gradients(), moments_,
        {.beta1 = parameters_.adam_beta1,
         .beta2 = parameters_.adam_beta2,
         .epsilon = parameters_.adam_epsilon,
         .weight_decay = parameters_.weight_decay},
        out.learning_rate, step + 1);
  return out;
}

std::expected<double, std::string> Optimization::loss(std::span<const Example> examples) {
  std::vector<std::uint32_t> lengths;
  std::uint64_t trained = 0;
  for (const Example& each : examples) {
    lengths.push_back(static_cast<std::uint32_t>(each.ids.size()));
    trained += each.trained_tokens();
  }
  double sum = 0;
  for (const MicroBatch& each : micro_batches(lengths, micro_)) sum += TRY(learner_.loss(pass(examples, each, 0)));
  return sum / static_cast<double>(trained);
}

}  // namespace stackgate::trainer
