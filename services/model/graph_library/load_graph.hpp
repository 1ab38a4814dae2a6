// The graph out of libstackgate-engine.so, so that a program without an embedded model loads no libtorch.
#pragma once
#include <expected>
#include <memory>
#include <string>

#include "services/model/graph/graph.hpp"

namespace stackgate::model {

struct GraphLibrary {
  /// Graph::open, Graph::device and Graph::blas.
  std::expected<std::unique_ptr<Graph>, std::string> open(const ModelDirectory& model, Weights weights,
                                                          const GraphOptions& options) const;
  std::expected<Device, std::string> device(std::optional<Device> asked) const;
  std::string blas() const;

  const struct GraphEntry* entry = nullptr;  // of the library, which stays loaded
};

/// `path`: of the shared object. Takes about a second, for libtorch's relocations. The error is a sentence: it is not
/// there, or it is of another build than this program.
std::expected<GraphLibrary, std::string> load_graph_library(const std::string& path);

/// Beside this program, or in ../lib/stackgate from there.
std::string default_graph_library();

}  // namespace stackgate::model
