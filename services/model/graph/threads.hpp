// How many threads compute. Sees libtorch; the header does not.
#pragma once
#include <string>

namespace stackgate::model {

/// libtorch's loops and OpenBLAS have pools of their own. For the thread that computes.
void use_threads(unsigned threads);

/// "OpenBLAS 0.3.21 … SkylakeX", or a warning that the reference BLAS is installed.
std::string blas_in_use();

}  // namespace stackgate::model
