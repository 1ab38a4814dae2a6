#include "services/model/graph_library/load_graph.hpp"

#include <utility>

#include "services/kit/base/try.hpp"
#include "services/kit/shared_object/shared_object.hpp"
#include "services/model/graph_library/entry.hpp"

namespace stackgate::model {

std::string default_graph_library() { return shared_object::default_path("libstackgate-engine.so"); }

std::expected<GraphLibrary, std::string> load_graph_library(const std::string& path) {
  const GraphEntry* entry = TRY(shared_object::open<GraphEntry>(path));
  return GraphLibrary{entry};
}

std::expected<std::unique_ptr<Graph>, std::string> GraphLibrary::open(const ModelDirectory& model, Weights weights,
                                                                      const GraphOptions& options) const {
  return entry->open(model, std::move(weights), options);
}

std::expected<Device, std::string> GraphLibrary::device(std::optional<Device> asked) const {
  return entry->device(asked);
}

std::string GraphLibrary::blas() const { return entry->blas(); }

}  // namespace stackgate::model
