// The same kernels, compiled for each instruction set: one file each, with flags of its own (CMakeLists.txt).
#pragma once
#include "services/model/kernels/kernels.hpp"

namespace stackgate::model {

extern const Kernels baseline_kernels;
#if defined(__x86_64__)
extern const Kernels avx2_kernels, avx512_kernels;
#endif

}  // namespace stackgate::model
