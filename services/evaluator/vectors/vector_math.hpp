// Products of vectors: the inner loop of every index. Pure and thread-safe.
#pragma once
#include <cstddef>
#include <span>

namespace stackgate::evaluator {

/// The inner product of two vectors of `size` numbers. The same bits with AVX2 and without on x86-64, so that a file or
/// a ranking does not depend on the machine: no fused multiply-add, one order of the sums.
float dot(const float* a, const float* b, std::size_t size);

/// To length 1; a vector of zeros stays one. False, and nothing is changed: it has a value that is no number, or is too
/// long for a float.
bool normalise(std::span<float> vector);

}  // namespace stackgate::evaluator
