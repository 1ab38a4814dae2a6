#include "services/trainer/parameters/parameters.hpp"

#include <cmath>

#include <fmt/format.h>

#include "services/model/directory/tensors.hpp"
#include "services/trainer/data/random.hpp"

namespace stackgate::trainer {

namespace parameters_detail {

/// One after the other in the array.
class List {
 public:
  void add(std::string name, std::vector<std::uint64_t> shape) {
    std::size_t count = 1;
    for (const std::uint64_t each : shape) count *= each;
    list.push_back({std::move(name), std::move(shape), offset_, count});
    offset_ += count;
  }
  std::vector<Parameter> list;

 private:
  std::size_t offset_ = 0;
};

}  // namespace parameters_detail

std::vector<Parameter> all_parameters(const model::Config& config) {
  parameters_detail::List out;
  for (model::ExpectedTensor& each : model::expected_tensors(config))
    out.add(std::move(each.name), std::move(each.shape));
  return std::move(out.list);
}

std::vector<Parameter> lora_parameters(const model::Config& config, const LoraSettings& lora) {
  parameters_detail::List out;
  const auto tensors = model::expected_tensors(config);
  for (std::uint32_t layer = 0; layer < config.layers; ++layer)
    for (const model::Module module : lora.modules) {
      const std::string path = fmt::format("model.layers.{}.{}", layer, model::to_string(module));
      for (const model::ExpectedTensor& each : tensors) {
        if (each.name != path + ".weight") continue;
        out.add(fmt::format("base_model.model.{}.lora_A.weight", path), {lora.rank, each.shape[1]});
        out.add(fmt::format("base_model.model.{}.lora_B.weight", path), {each.shape[0], lora.rank});
      }
    }
  return std::move(out.list);
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
