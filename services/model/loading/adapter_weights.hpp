// An adapter's matrices in memory, as the graph applies them.
#pragma once
#include "services/model/adapter/adapter_weights.hpp"
#include "services/model/loading/load_adapter.hpp"

namespace stackgate::model {

/// Of an adapter without errors, for the base it was held against: widened to float32, B transposed and times its
/// module's scale. Reads the mapped file, which may be gone afterwards.
AdapterWeights adapter_weights(const LoadedAdapter& loaded, const Config& base);

}  // namespace stackgate::model
