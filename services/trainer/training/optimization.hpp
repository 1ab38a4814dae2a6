// Steps of an optimizer over examples: what is the same for an adapter and for all weights. One thread's. Each rank of
// a group takes every size-th example of a step; what it holds afterwards is the same everywhere.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "services/model/hyperparameters/hyperparameters.hpp"
#include "services/trainer/data/order.hpp"
#include "services/trainer/learn/group.hpp"
#include "services/trainer/learn/learner.hpp"
#include "services/trainer/optimizer/adamw.hpp"
#include "services/trainer/training/failure.hpp"

namespace stackgate::trainer {

/// Packing fills passes up to the longest example; otherwise so many examples as are asked for, or as fit.
MicroBatches passes_of(const model::Hyperparameters& parameters, std::uint64_t most_tokens);

struct StepOutcome {
  double loss_sum = 0, grad_norm = 0, learning_rate = 0;  // the norm before clipping
  std::uint64_t trained_tokens = 0, tokens = 0;
  bool stop = false;  // somebody asked for it
};

class Optimization {
 public:
  /// All must outlive it; `examples` are the same at all ranks. `total`: steps of the run.
  Optimization(Learner& learner, const model::Hyperparameters& parameters, std::span<const Example> examples,
               std::uint64_t most_tokens, std::uint64_t per_epoch, std::uint64_t total, Group& group);

  /// Step 0 … total - 1, in this order. The loss is that of all the step's trained tokens together. `stop` is
  /// asked once; what one rank answers all do. The failure: the loss or the gradient is no number, a rank is lost (in
  /// both cases nothing was changed), or libtorch's.
  Result<StepOutcome> step(std::uint64_t step, const std::function<bool()>& stop);
  /// The mean of -log p over the trained tokens.
  Result<double> loss(std::span<const Example> examples);

  Moments& moments() { return moments_; }

 private:
  /// The passes of this rank's part of `which`.
  std::vector<MicroBatch> own_passes(std::span<const Example> from, std::span<const std::uint32_t> which) const;
  std::vector<LearnedExample> pass(std::span<const Example> from, std::span<const std::uint32_t> which,
                                   std::uint64_t step) const;

  Learner& learner_;
  const model::Hyperparameters& parameters_;
  std::span<const Example> examples_;
  MicroBatches micro_;
  Group& group_;
  std::uint64_t per_epoch_, total_, epoch_ = ~std::uint64_t{0};
  std::vector<std::uint32_t> order_;  // of epoch_
  Moments moments_;
};

}  // namespace stackgate::trainer
