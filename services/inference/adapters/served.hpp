// An adapter that answers a request.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "services/inference/adapters/check.hpp"

namespace stackgate::inference {

/// Whoever holds one keeps its weights in memory and its files on the disk: hold it as long as the request lasts.
struct ServedAdapter {
  std::string name, version, id;
  std::uint64_t key = 0;  // of this version; never used again, and never 0: that is the base
  std::uint32_t rank = 0;
  std::string directory;
  AdapterWeightsPtr weights;  // nullptr where directories are enough
};
using ServedAdapterPtr = std::shared_ptr<const ServedAdapter>;

/// The weights alone, which hold the adapter just as well.
inline AdapterWeightsPtr weights_of(const ServedAdapterPtr& adapter) { return {adapter, adapter->weights.get()}; }

}  // namespace stackgate::inference
