// What is done with an adapter's directory before it serves, and to have its weights. Functions, so that the engine and
// upstream mode differ in nothing else. Thread-safe.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "services/model/adapter/adapter.hpp"
#include "services/model/adapter/adapter_weights.hpp"

namespace stackgate::inference {

struct CheckedAdapter {
  std::uint32_t rank = 0;             // the largest
  bool has_patterns = false;          // model::Adapter::has_patterns
  std::vector<std::string> warnings;  // a line each
};

/// The error: what is wrong with it, in one line.
using CheckAdapter = std::function<std::expected<CheckedAdapter, std::string>(const std::string& directory)>;

using AdapterWeightsPtr = std::shared_ptr<const model::AdapterWeights>;
using LoadAdapterWeights = std::function<std::expected<AdapterWeightsPtr, std::string>(const std::string& directory)>;

/// Held against the base model; reads headers, no values.
CheckAdapter check_against(model::Config base, model::AdapterLimits limits);
/// Without a base, where another engine has it: what every engine would refuse.
CheckAdapter check_alone(model::AdapterLimits limits);

LoadAdapterWeights load_for(model::Config base, model::AdapterLimits limits);

}  // namespace stackgate::inference
