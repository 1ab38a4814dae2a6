// The one symbol of libstackgate-engine.so.
#include "services/model/graph_library/entry.hpp"

#include "services/kit/shared_object/shared_object.hpp"

namespace {

const std::string build = stackgate::shared_object::build();

}  // namespace

extern "C" {
extern const stackgate::model::GraphEntry stackgate_graph_entry __attribute__((visibility("default")));
const stackgate::model::GraphEntry stackgate_graph_entry = {
    .build = build,
    .open = &stackgate::model::Graph::open,
    .device = &stackgate::model::Graph::device,
    .blas = &stackgate::model::Graph::blas,
};
}
