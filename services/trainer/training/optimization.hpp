// Steps of an optimizer over examples: what is the same for an adapter and for all weights. One thread's.
#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "services/trainer/config/hyperparameters.hpp"
#include "services/trainer/data/order.hpp"
#include "services/trainer/learn/learner.hpp"
#include "services/trainer/optimizer/adamw.hpp"

namespace stackgate::trainer {

/// Packing fills passes up to the longest example; otherwise so many examples as are asked for, or as fit.
MicroBatches passes_of(const Hyperparameters& parameters, std::uint64_t most_tokens);

struct StepOutcome {
  double loss_sum = 0, grad_norm = 0, learning_rate = 0;  // the norm before clipping
  std::uint64_t trained_tokens = 0, tokens = 0;
};

class Optimization {
 public:
  /// All must outlive it. `total`: steps of the run.
  Optimization(Learner& learner, const Hyperparameters& parameters, std::span<const Example> examples,
               std::uint64_t most_tokens, std::uint64_t per_epoch, std::uint64_t total);

  /// Step 0 … total - 1, in this order. The loss is that of all the step's trained tokens together. The error: the
  /// loss or the gradient is no number (then nothing was changed), or libtorch's.
  std::expected<StepOutcome, std::string> step(std::uint64_t step);
  /// The mean of -log p over the trained tokens.
  std::expected<double, std::string> loss(std::span<const Example> examples);

  Moments& moments() { return moments_; }

 private:
  std::vector<LearnedExample> pass(std::span<const Example> from, std::span<const std::uint32_t> which,
                                   std::uint64_t step) const;

  Learner& learner_;
  const Hyperparameters& parameters_;
  std::span<const Example> examples_;
  MicroBatches micro_;
  std::uint64_t per_epoch_, total_, epoch_ = ~std::uint64_t{0};
  std::vector<std::uint32_t> order_;  // of epoch_
  Moments moments_;
};

}  // namespace stackgate::trainer
