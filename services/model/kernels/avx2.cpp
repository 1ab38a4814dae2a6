// AVX2, FMA and F16C: sixteen registers of eight floats.
#include <immintrin.h>

#include "services/model/kernels/sets.hpp"

#define LANES 8
#define WEIGHT_ROWS 2
#define INPUT_ROWS 4
#define QUERIES 4

namespace stackgate::model {
namespace {
#include "services/model/kernels/simd/attention.inc"
}  // namespace

const Kernels avx2_kernels{"avx2", product, add_combinations, attend};

}  // namespace stackgate::model
