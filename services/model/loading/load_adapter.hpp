// A LoRA adapter's directory from the disk, held against the model that is to serve it.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "services/kit/files/mapped_file.hpp"
#include "services/model/adapter/adapter.hpp"

namespace stackgate::model {

struct LoadedAdapter {
  Adapter adapter;              // to be used only when there are no errors
  validate::Findings findings;  // paths as check_adapter's
  files::MappedFile file;       // adapter_model.safetensors

  /// Of adapter.modules; valid as long as `file` lives.
  std::span<const std::byte> bytes(const TensorPlace& place) const {
    return file.bytes().subspan(place.offset, place.bytes);
  }
};

/// Files of `directory` that lead out of it are refused, and so is a pickle (adapter_model.bin).
LoadedAdapter load_adapter(const std::string& directory, const Config& base, const AdapterLimits& limits = {});

}  // namespace stackgate::model
