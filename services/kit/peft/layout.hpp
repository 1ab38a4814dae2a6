// What an archive's files are for: the adapter's configuration and weights at its root or in its one folder. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/archive/tar_gz.hpp"

namespace stackgate::peft {

inline constexpr std::string_view config_name = "adapter_config.json";
inline constexpr std::string_view weights_name = "adapter_model.safetensors";
inline constexpr std::string_view pickle_name = "adapter_model.bin";  // stored, flagged, never read

struct Layout {
  std::string folder;  // "my-adapter/", taken off every name; or empty
  bool has_config = false, has_weights = false, has_pickle = false;
  validate::Findings findings;
};

/// `reserved`: names at the root that the adapter may not use.
Layout read_layout(const std::vector<archive::Entry>& files, std::span<const std::string_view> reserved = {});

/// Of an archive that is NeMo's own packing.
validate::Finding nemo_finding();

/// Whether the entry may be the file of that name: at the root or one folder below.
bool may_be(std::string_view entry, std::string_view name);

}  // namespace stackgate::peft
