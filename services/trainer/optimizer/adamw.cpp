#include "services/trainer/optimizer/adamw.hpp"

#include <cmath>

namespace stackgate::trainer {

void adamw(std::span<float> values, std::span<const float> gradients, Moments& moments, const AdamSettings& settings,
           double learning_rate, std::uint64_t step) {
  const auto at = static_cast<double>(step);
  const double first_bias = 1 - std::pow(settings.beta1, at), second_bias = 1 - std::pow(settings.beta2, at);
  const auto beta1 = static_cast<float>(settings.beta1), beta2 = static_cast<float>(settings.beta2);
  const auto kept = static_cast<float>(1 - learning_rate * settings.weight_decay);
  const auto rate = static_cast<float>(learning_rate / first_bias);
  const auto root = static_cast<float>(1 / std::sqrt(second_bias)), epsilon = static_cast<float>(settings.epsilon);
  float *const first = moments.first.data(), *const second = moments.second.data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float gradient = gradients[i];
    first[i] = beta1 * first[i] + (1 - beta1) * gradient;
    second[i] = beta2 * second[i] + (1 - beta2) * gradient * gradient;
    values[i] = values[i] * kept - rate * first[i] / (std::sqrt(second[i]) * root + epsilon);
  }
}

double norm(std::span<const float> values) {
  // Eight sums side by side: they need not wait for each other.
  double sums[8] = {};
  for (std::size_t i = 0; i < values.size(); ++i) sums[i % 8] += static_cast<double>(values[i]) * values[i];
  double sum = 0;
  for (const double each : sums) sum += each;
  return std::sqrt(sum);
}

void clip(std::span<float> gradients, double gradient_norm, double most) {
  if (most == 0 || gradient_norm <= most) return;
  const auto factor = static_cast<float>(most / (gradient_norm + 1e-6));
  for (float& each : gradients) each *= factor;
}

}  // namespace stackgate::trainer
