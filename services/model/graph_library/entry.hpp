// What libstackgate-engine.so gives: an entry of services/kit/shared_object.
#pragma once
#include <expected>
#include <memory>
#include <string>

#include "services/model/graph/graph.hpp"

namespace stackgate::model {

struct GraphEntry {
  static constexpr const char* symbol = "stackgate_graph_entry";
  std::string_view build;
  std::expected<std::unique_ptr<Graph>, std::string> (*open)(const ModelDirectory& model, Weights weights,
                                                             const GraphOptions& options) = nullptr;
  std::expected<Device, std::string> (*device)(std::optional<Device> asked) = nullptr;
  std::string (*blas)() = nullptr;
};

}  // namespace stackgate::model
