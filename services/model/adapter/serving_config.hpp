// What a server needs of adapter_config.json beyond what kit/peft reads, and what it refuses. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/peft/config.hpp"

namespace stackgate::model {

struct ServingConfig {
  peft::Config lora;
  std::vector<std::pair<peft::ModuleKey, double>> alphas;  // alpha_pattern, in the document's order
  std::optional<peft::Targets> excluded;                   // exclude_modules
  std::optional<std::vector<std::uint64_t>> layers;        // layers_to_transform
  validate::Findings findings;                             // kit/peft's, too

  double alpha_of(std::string_view module) const;
  /// What keeps the configuration from meaning this module ("exclude_modules"), or empty.
  std::string_view excludes(std::string_view module) const;
};

ServingConfig read_serving_config(std::string_view json, std::uint32_t max_rank);

}  // namespace stackgate::model
