// What is trained: names, shapes and places in one array, and how it begins. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "services/model/directory/config.hpp"
#include "services/model/modules.hpp"
#include "services/trainer/optimizer/parameter.hpp"

namespace stackgate::trainer {

/// A LoRA pair for each of `modules` in each layer: y = W·x + scale·B·(A·dropout(x)).
struct LoraSettings {
  std::uint32_t rank = 8;
  double scale = 2, dropout = 0;
  std::vector<model::Module> modules{};
};

/// A and B of each pair, by PEFT's names.
std::vector<Parameter> lora_parameters(const model::Config& config, const LoraSettings& lora);
/// Every weight of the model.
std::vector<Parameter> all_parameters(const model::Config& config);

/// A LoRA's beginning: A uniform within ±1/√in by `seed` alone, B zero.
void draw_lora(std::span<const Parameter> parameters, std::span<float> values, std::uint64_t seed);

}  // namespace stackgate::trainer
