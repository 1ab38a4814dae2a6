// Which adapters there are, as requests see them, and the routes about them: ours under /v1/adapters, and vLLM's calls
// that load and unload at run time.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/adapters/store.hpp"
#include "services/inference/front/front.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::inference {

/// What the front asks of a store. `base` has made them: its name is their parent.
AdapterNames names_of(const std::shared_ptr<AdapterStore>& store, std::shared_ptr<const BaseModel> base);

/// What an engine behind us makes of an adapter.
struct AdapterPlace {
  std::string upstream;  // its URL
  std::string state;     // "loaded", "pending", "refused", "unreachable"
  std::string reason{};  // refused, unreachable
};
using AdapterPlaces = std::function<std::vector<AdapterPlace>(std::string_view name)>;

/// GET /v1/adapters: state and reason of each; POST /v1/adapters/refresh: the source is asked now. With `run_time` also
/// /v1/load_lora_adapter and /v1/unload_lora_adapter. With `places` GET shows them for each adapter that can be served.
std::vector<web::Route> adapter_routes(const std::shared_ptr<AdapterStore>& store, bool run_time,
                                       AdapterPlaces places = {});

}  // namespace stackgate::inference
