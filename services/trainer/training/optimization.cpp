#include "services/trainer/training/optimization.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/trainer/config/schedule.hpp"
#include "services/trainer/data/random.hpp"
#include "services/trainer/training/peers.hpp"

namespace stackgate::trainer {
namespace optimization_detail {

constexpr std::uint64_t usual_tokens = 2048;  // of a pass: enough for the products, little enough for the memory

}  // namespace optimization_detail

MicroBatches passes_of(const model::Hyperparameters& parameters, std::uint64_t most_tokens) {
  if (parameters.sequence_packing_enabled) return {.tokens = most_tokens, .packed = true};
  if (parameters.micro_batch_size) return {.examples = parameters.micro_batch_size, .tokens = UINT64_MAX};
  return {.tokens = std::max(optimization_detail::usual_tokens, most_tokens)};
}

Optimization::Optimization(Learner& learner, const model::Hyperparameters& parameters,
                           std::span<const Example> examples, std::uint64_t most_tokens, std::uint64_t per_epoch,
                           std::uint64_t total, Group& group)
    : learner_(learner),
      parameters_(parameters),
      examples_(examples),
      micro_(passes_of(parameters, most_tokens)),
      group_(group),
      per_epoch_(per_epoch),
      total_(total),
      moments_{std::vector<float>(learner.values().size()), std::vector<float>(learner.values().size())} {}

std::vector<MicroBatch> Optimization::own_passes(std::span<const Example> from,
                                                 std::span<const std::uint32_t> which) const {
  std::vector<std::uint32_t> own, lengths;
  for (std::size_t i = group_.rank(); i < which.size(); i += group_.size()) {
    own.push_back(which[i]);
    lengths.push_back(static_cast<std::uint32_t>(from[which[i]].ids.size()));
  }
  auto out = micro_batches(lengths, micro_);
  for (MicroBatch& each : out)
    for (std::uint32_t& i : each) i = own[i];
  return out;
}

std::vector<LearnedExample> Optimization::pass(std::span<const Example> from, std::span<const std::uint32_t> which,
                                               std::uint64_t step) const {
  std::vector<LearnedExample> out;
  for (const std::uint32_t i : which)
    out.push_back(
        {.ids = from[i].ids, .trained = from[i].trained, .dropout_key = key_of(parameters_.seed, 0x64726f70, step, i)});
  return out;
}

Result<StepOutcome> Optimization::step(std::uint64_t step, const std::function<bool()>& stop) {
  const std::uint64_t epoch = step / per_epoch_, first = step % per_epoch_ * parameters_.batch_size;
  if (epoch != epoch_) {
    order_ = permutation(parameters_.seed, epoch, static_cast<std::uint32_t>(examples_.size()));
    epoch_ = epoch;
  }
  const auto batch =
      std::span(order_).subspan(first, std::min<std::uint64_t>(parameters_.batch_size, order_.size() - first));
  StepOutcome out{.learning_rate = learning_rate(parameters_, step, total_)};
  for (const std::uint32_t i : batch) {
    out.tokens += examples_[i].ids.size();
    out.trained_tokens += examples_[i].trained_tokens();
  }
  std::ranges::fill(learner_.gradients(), 0.0F);
  for (const MicroBatch& each : own_passes(examples_, batch)) {
    const auto sum = learner_.learn(pass(examples_, each, step), 1 / static_cast<double>(out.trained_tokens));
    if (!sum) return failed(sum.error());
    out.loss_sum += *sum;
  }
  std::array<double, 2> shared{out.loss_sum, stop() ? 1.0 : 0.0};
  TRY(with_peers(group_.sum(shared)));
  TRY(with_peers(group_.sum(learner_.gradients())));
  out.loss_sum = shared[0];
  out.stop = shared[1] != 0;
  out.grad_norm = norm(learner_.gradients());
  if (!std::isfinite(out.loss_sum) || !std::isfinite(out.grad_norm))
    return failed(fmt::format("the {} of step {} is no finite number: lower learning_rate, or look at the data",
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

Result<double> Optimization::loss(std::span<const Example> examples) {
  std::vector<std::uint32_t> all(examples.size());
  std::iota(all.begin(), all.end(), 0U);
  double sum = 0, trained = 0;
  for (const Example& each : examples) trained += static_cast<double>(each.trained_tokens());
  for (const MicroBatch& each : own_passes(examples, all)) {
    const auto some = learner_.loss(pass(examples, each, 0));
    if (!some) return failed(some.error());
    sum += *some;
  }
  TRY(with_peers(group_.sum(std::span(&sum, 1))));
  return sum / trained;
}

}  // namespace stackgate::trainer
