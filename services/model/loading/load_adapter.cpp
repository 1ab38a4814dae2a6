#include "services/model/loading/load_adapter.hpp"

#include <filesystem>

#include "services/kit/peft/layout.hpp"
#include "services/model/loading/inside.hpp"

namespace stackgate::model {
namespace {

constexpr std::uint64_t largest_adapter_config = 4U << 20U;

}  // namespace

LoadedAdapter load_adapter(const std::string& directory, const Config& base, const AdapterLimits& limits) {
  LoadedAdapter out;
  const auto config = read_inside(directory, peft::config_name, largest_adapter_config);
  auto weights = map_inside(directory, peft::weights_name);
  if (!config) out.findings.push_back(config.error());
  if (!weights) out.findings.push_back(weights.error());
  std::error_code error;
  if (!weights && std::filesystem::exists(std::filesystem::path(directory) / peft::pickle_name, error))
    out.findings.back().fix = "adapter_model.bin is a pickle, which is never opened: save with safe_serialization=True";
  if (!config || !weights) return out;
  const auto bytes = weights->bytes();
  auto [adapter, findings] = check_adapter(
      base, *config, safetensors::read_file({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), limits);
  out.adapter = std::move(adapter);
  out.findings = std::move(findings);
  out.file = std::move(*weights);
  return out;
}

}  // namespace stackgate::model
