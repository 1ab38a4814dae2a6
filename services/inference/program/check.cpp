// stackgate-inference check DIR
#include <array>
#include <cstdio>

#include <fmt/format.h>

#include "services/inference/program/program.hpp"
#include "services/kit/run/startup.hpp"

namespace stackgate::inference {
namespace check_detail {

constexpr int cannot_be_served = 1, wrong_use = 2;

std::string in_units(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double step = 1024;
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= step && unit + 1 < units.size(); ++unit) value /= step;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string weights_text(const MemoryPlan& memory, const model::Placement& placement) {
  std::string mapped = in_units(memory.weights) + ", mapped from its files";
  if (placement.device == model::Device::cuda)
    return fmt::format("{} of the GPU's memory, copied from {}", in_units(memory.copied), mapped);
  // Vectors are always widened; they are a few kilobytes.
  if (placement.dtype == model::Dtype::f32 || memory.copied == 0) return mapped;
  return fmt::format("{}; {} of copies in {}", mapped, in_units(memory.copied),
                     model::arithmetic_name(placement.dtype));
}

std::string described(const BaseModel& model, const MemoryPlan& memory, const model::Placement& placement) {
  const model::Config& config = model.directory.config;
  return fmt::format(
      "model     {} ({}, {} layers, width {}, {} heads, {} of keys and values)\n"
      "tokens    vocabulary {}, context {}\n"
      "chat      {}\n"
      "computes  in {} on {}\n"
      "weights   {}\n"
      "cache     {}: {} tokens, {} each\n",
      model.name, model::to_string(config.family), config.layers, config.hidden, config.heads, config.key_value_heads,
      config.vocabulary, model.limits.context,
      model.templates.empty() ? "no template: /v1/chat/completions needs --chat-template" : "its own template",
      model::arithmetic_name(placement.dtype),
      placement.device == model::Device::cpu ? "a CPU" : "a GPU, if there is one: only serving looks for it",
      weights_text(memory, placement), in_units(memory.cache), memory.cache_tokens, in_units(memory.cache_per_token));
}

}  // namespace check_detail

int run_command(const settings::Values& values) {
  using namespace check_detail;
  if (values.arguments().size() > 1 || (values.arguments().empty() && values.text("model").empty())) {
    std::fputs("stackgate-inference check: name one directory: stackgate-inference check DIR\n", stderr);
    return wrong_use;
  }
  auto wanted = model_options(values);
  if (!wanted) {
    std::fputs(fmt::format("stackgate-inference check: {}\n", wanted.error().message).c_str(), stderr);
    return wrong_use;
  }
  if (!values.arguments().empty()) wanted->directory = values.arguments().front();
  const auto model = load_base_model(*wanted);
  if (!model) {
    std::fputs(fmt::format("{} cannot be served:\n{}", wanted->directory, to_text(model.error())).c_str(), stdout);
    return cannot_be_served;
  }
  const auto placed = placement_on(asked_device(values).value_or(model::Device::cpu), values, **model);
  if (!placed) {
    std::fputs(fmt::format("{} cannot be served so:\n  {}\n", wanted->directory, placed.error().message).c_str(),
               stdout);
    return cannot_be_served;
  }
  const MemoryPlan memory = memory_plan(engine_options(values, **model, *placed), **model, *placed);
  std::fputs((described(**model, memory, *placed) + to_text((*model)->warnings)).c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : cannot_be_served;
}

}  // namespace stackgate::inference
