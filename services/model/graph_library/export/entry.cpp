// The one symbol of libstackgate-engine.so.
#include "services/model/graph_library/entry.hpp"

namespace {

const std::string build = stackgate::model::graph_build();

}  // namespace

extern "C" {
extern const stackgate::model::GraphEntry stackgate_graph_entry __attribute__((visibility("default")));
const stackgate::model::GraphEntry stackgate_graph_entry = {
    .build = build, .open = &stackgate::model::Graph::open, .blas = &stackgate::model::Graph::blas};
}
