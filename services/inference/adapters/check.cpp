#include "services/inference/adapters/check.hpp"

#include <fmt/format.h>

#include "services/kit/peft/layout.hpp"
#include "services/kit/peft/tensors.hpp"
#include "services/model/adapter/serving_config.hpp"
#include "services/model/loading/adapter_weights.hpp"
#include "services/model/loading/inside.hpp"

namespace stackgate::inference {
namespace {

constexpr std::size_t most_reported = 3;  // faults, in one line

/// The first errors, or nothing.
std::string faults_of(const validate::Findings& findings) {
  std::string out;
  std::size_t count = 0;
  for (const validate::Finding& each : findings) {
    if (each.severity != validate::Severity::error) continue;
    if (count++ < most_reported) out += fmt::format("{}{} {}", out.empty() ? "" : "; ", each.path, each.problem);
    if (count == 1 && !each.fix.empty()) out += fmt::format(" ({})", each.fix);
  }
  if (count > most_reported) out += fmt::format("; and {} more", count - most_reported);
  return out;
}

CheckedAdapter checked(std::uint32_t rank, bool has_patterns, const validate::Findings& findings) {
  CheckedAdapter out{.rank = rank, .has_patterns = has_patterns, .warnings = {}};
  for (const validate::Finding& each : findings) out.warnings.push_back(fmt::format("{} {}", each.path, each.problem));
  return out;
}

}  // namespace

CheckAdapter check_against(model::Config base, model::AdapterLimits limits) {
  return [base = std::move(base), limits](const std::string& directory) -> std::expected<CheckedAdapter, std::string> {
    const model::LoadedAdapter loaded = model::load_adapter(directory, base, limits);
    if (std::string faults = faults_of(loaded.findings); !faults.empty()) return std::unexpected(std::move(faults));
    return checked(loaded.adapter.largest_rank, loaded.adapter.has_patterns, loaded.findings);
  };
}

CheckAdapter check_alone(model::AdapterLimits limits) {
  return [limits](const std::string& directory) -> std::expected<CheckedAdapter, std::string> {
    const auto text = model::read_inside(directory, peft::config_name, 4U << 20U);
    if (!text) return std::unexpected(faults_of({text.error()}));
    const auto file = model::map_inside(directory, peft::weights_name);
    if (!file) return std::unexpected(faults_of({file.error()}));
    model::ServingConfig config = model::read_serving_config(*text, limits.max_rank);
    const auto bytes = file->bytes();
    const auto weights = safetensors::read_file({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    validate::Findings findings = std::move(config.findings);
    const peft::Tensors tensors = peft::check_tensors(weights.header, config.lora);
    findings.insert(findings.end(), tensors.findings.begin(), tensors.findings.end());
    if (std::string faults = faults_of(findings); !faults.empty()) return std::unexpected(std::move(faults));
    std::int64_t rank = 0, smallest = std::numeric_limits<std::int64_t>::max();
    for (const auto& [path, module] : tensors.modules) {
      rank = std::max(rank, module.rank);
      smallest = std::min(smallest, module.rank);
    }
    if (rank > limits.max_rank)
      return std::unexpected(fmt::format("its rank is {}; --max-lora-rank is {}", rank, limits.max_rank));
    return checked(static_cast<std::uint32_t>(rank), smallest < rank || !config.alphas.empty(), findings);
  };
}

LoadAdapterWeights load_for(model::Config base, model::AdapterLimits limits) {
  return
      [base = std::move(base), limits](const std::string& directory) -> std::expected<AdapterWeightsPtr, std::string> {
        const model::LoadedAdapter loaded = model::load_adapter(directory, base, limits);
        if (std::string faults = faults_of(loaded.findings); !faults.empty()) return std::unexpected(std::move(faults));
        return std::make_shared<const model::AdapterWeights>(model::adapter_weights(loaded, base));
      };
}

}  // namespace stackgate::inference
