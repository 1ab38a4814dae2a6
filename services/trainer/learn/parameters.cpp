#include <cmath>

#include <fmt/format.h>

#include "services/trainer/data/random.hpp"
#include "services/trainer/learn/learner.hpp"

namespace stackgate::trainer {

std::vector<Parameter> trained_parameters(const model::Config& config, const LearnerSettings& settings) {
  std::vector<Parameter> out;
  std::size_t offset = 0;
  const auto add = [&](std::string name, std::vector<std::uint64_t> shape) {
    std::size_t count = 1;
    for (const std::uint64_t each : shape) count *= each;
    out.push_back({std::move(name), std::move(shape), offset, count});
    offset += count;
  };
  const auto tensors = model::expected_tensors(config);
  if (settings.everything) {
    for (const model::ExpectedTensor& each : tensors) add(each.name, each.shape);
    return out;
  }
  for (std::uint32_t layer = 0; layer < config.layers; ++layer)
    for (const model::Module module : settings.lora.modules) {
      const std::string path = fmt::format("model.layers.{}.{}", layer, model::to_string(module));
      for (const model::ExpectedTensor& each : tensors) {
        if (each.name != path + ".weight") continue;
        add(fmt::format("base_model.model.{}.lora_A.weight", path), {settings.lora.rank, each.shape[1]});
        add(fmt::format("base_model.model.{}.lora_B.weight", path), {each.shape[0], settings.lora.rank});
      }
    }
  return out;
}

void draw_lora(std::span<const Parameter> parameters, std::span<float> values, std::uint64_t seed) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& each = parameters[i];
    const bool is_a = each.name.ends_with(".lora_A.weight");
    const double bound = 1 / std::sqrt(static_cast<double>(each.shape[1]));
    const std::uint64_t key = key_of(seed, 0x6c6f7261, i);
    for (std::size_t n = 0; n < each.count; ++n)
      values[each.offset + n] = is_a ? static_cast<float>(bound * (2 * uniform(key, n) - 1)) : 0.0F;
  }
}

}  // namespace stackgate::trainer
