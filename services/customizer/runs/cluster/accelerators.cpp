#include "services/customizer/runs/cluster/accelerators.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/grammar/quantity.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::customizer {
namespace accelerators_detail {

constexpr std::uint64_t mebibyte = 1U << 20U;

/// Half precision is what models come in.
std::uint64_t bytes_of_parameter(std::string_view precision) {
  const std::string lower = ascii::to_lower(precision);
  if (lower.contains("32")) return 4;
  if (lower.contains("fp8") || lower.contains("int8") || lower.contains("float8")) return 1;
  return 2;
}

bool is_chosen(const json::Value& node, const ContainerDefaults& defaults) {
  if (defaults.node_selector.empty()) return true;
  json::Document document;
  const auto selector = json::parse(defaults.node_selector, document);
  return !selector || std::ranges::all_of(selector->members(), [&](const json::Member& each) {
    return each.value.is_string() && json::text(&node, {"metadata", "labels", each.key}) == each.value.string();
  });
}

std::optional<std::uint64_t> memory_of(const json::Value& node, const std::string& resource) {
  const std::string_view nvidia = json::text(&node, {"metadata", "labels", resource + ".memory"});
  std::uint64_t mebibytes = 0;
  const auto read = std::from_chars(nvidia.data(), nvidia.data() + nvidia.size(), mebibytes);
  if (!nvidia.empty() && read.ec == std::errc() && read.ptr == nvidia.data() + nvidia.size() && mebibytes < (1U << 30U))
    return mebibytes * mebibyte;
  const std::string label = fmt::format("{}/gpu.vram", resource.substr(0, resource.find('/')));
  std::string amd(json::text(&node, {"metadata", "labels", label}));
  if (amd.ends_with('G')) amd += 'i';  // labels have no room for the rest
  const auto quantity = validate::grammar::parse_quantity(amd);
  if (amd.empty() || !quantity || !quantity->to_integer()) return std::nullopt;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, *quantity->to_integer()));
}

std::string gibibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1U << 30U));
}

}  // namespace accelerators_detail

using namespace accelerators_detail;

std::uint64_t estimated_memory(const Target& target) {
  return target.num_parameters * bytes_of_parameter(target.precision) / 5 * 6;
}

validate::Findings judge_accelerators(const json::Value& nodes, const TrainingJob& job,
                                      const ContainerDefaults& defaults) {
  const std::uint64_t need = estimated_memory(job.target);
  const bool is_whole = json::text(&nodes, {"metadata", "continue"}).empty();
  if (need == 0 || job.option.num_gpus == 0 || !is_whole) return {};
  std::optional<std::uint64_t> most;
  for (const json::Value& each : json::items(&nodes, {"items"})) {
    if (!is_chosen(each, defaults)) continue;
    const json::Value amount = json::value_at(&each, {"status", "allocatable", defaults.gpu_resource});
    if (const std::string text = json::scalar_text(amount); text.empty() || text == "0") continue;
    const auto memory = memory_of(each, defaults.gpu_resource);
    if (!memory) return {};  // one that may have enough
    most = std::max(most.value_or(0), *memory);
  }
  if (!most || need <= *most) return {};
  return {
      {.rule = "customization-memory",
       .severity = validate::Severity::warning,
       .path = "model",
       .problem = fmt::format("needs about {} on each accelerator ({} parameters of {} bytes, and a fifth more), and "
                              "no node's {} has more than {}",
                              gibibytes(need), job.target.num_parameters, bytes_of_parameter(job.target.precision),
                              defaults.gpu_resource, gibibytes(*most)),
       .fix = "choose a smaller model, or nodes with larger accelerators; nothing where the cluster adds some"}};
}

}  // namespace stackgate::customizer
