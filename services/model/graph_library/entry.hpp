// What libstackgate-engine.so gives its one caller: C++ types of the same sources and compiler, which `build` vouches
// for.
#pragma once
#include <expected>
#include <memory>
#include <string>

#include "services/kit/base/version.hpp"
#include "services/model/graph/graph.hpp"

namespace stackgate::model {

struct GraphEntry {
  std::string_view build;  // graph_build() where it was made
  std::expected<std::unique_ptr<Graph>, std::string> (*open)(const ModelDirectory& model, Weights weights,
                                                             const GraphOptions& options) = nullptr;
  std::string (*blas)() = nullptr;
};

/// Differs where the types that cross the border may.
inline std::string graph_build() { return std::string(version) + ", " + __VERSION__; }

inline constexpr char graph_entry_name[] = "stackgate_graph_entry";

}  // namespace stackgate::model
