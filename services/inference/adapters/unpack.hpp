// An adapter's archive, as it streams by, into a directory.
#pragma once
#include <cstdint>
#include <expected>
#include <string>

#include "services/inference/adapters/source.hpp"
#include "services/kit/archive/gunzip.hpp"

namespace stackgate::inference {

struct UnpackLimits {
  std::uint64_t packed = std::uint64_t{4} << 30U;  // bytes
  std::uint64_t config = 4U << 20U;                // of adapter_config.json
};

/// Writes adapter_config.json and adapter_model.safetensors and syncs them; everything else is read past. `expected`:
/// size and SHA-256 of the packed bytes, as far as they are known; held against at the end.
std::expected<void, FetchFailure> unpack_adapter(archive::Source source, const std::string& directory,
                                                 const AdapterDownload& expected, const UnpackLimits& limits = {});

/// What a failed call of the system means; a full disk passes.
FetchFailure system_failure(std::string_view what, int error);

}  // namespace stackgate::inference
