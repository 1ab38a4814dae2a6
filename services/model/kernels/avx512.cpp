// AVX-512: 32 registers of sixteen floats.
#include <immintrin.h>

#include "services/model/kernels/sets.hpp"

#define LANES 16
#define WEIGHT_ROWS 4
#define INPUT_ROWS 4
#define QUERIES 4

namespace stackgate::model {
namespace {
#include "services/model/kernels/simd/attention.inc"
}  // namespace

const Kernels avx512_kernels{"avx512", product, add_combinations, attend};

}  // namespace stackgate::model
