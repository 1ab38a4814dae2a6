// AdamW over parameters that lie in one array. Pure. Source: Loshchilov and Hutter, "Decoupled Weight Decay
// Regularization" (https://arxiv.org/abs/1711.05101), as torch.optim.AdamW computes it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace stackgate::trainer {

struct AdamSettings {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.01;
};

/// Running means of gradients and of their squares.
struct Moments {
  std::vector<float> first, second;
};

/// One step; `step` counts from 1. All of the same length.
void adamw(std::span<float> values, std::span<const float> gradients, Moments& moments, const AdamSettings& settings,
           double learning_rate, std::uint64_t step);

/// √ of the sum of squares, summed in double in one order.
double norm(std::span<const float> values);

/// Scales gradients whose norm is above `most` down to it (as torch.nn.utils.clip_grad_norm_); `most` 0: never.
void clip(std::span<float> gradients, double gradient_norm, double most);

}  // namespace stackgate::trainer
