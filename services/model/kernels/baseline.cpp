// What every processor of the architecture can do.
#include "services/model/kernels/sets.hpp"

#define LANES 4
#define WEIGHT_ROWS 2
#define INPUT_ROWS 4
#define QUERIES 4

namespace stackgate::model {
namespace {
#include "services/model/kernels/simd/attention.inc"
}  // namespace

const Kernels baseline_kernels{"baseline", product, add_combinations, attend};

}  // namespace stackgate::model
