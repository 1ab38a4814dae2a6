// Weights of any type as float32.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "services/model/dtype.hpp"

namespace stackgate::model {

/// Of a tensor's bytes, which need not be aligned.
std::vector<float> floats_of(std::span<const std::byte> bytes, Dtype type);

}  // namespace stackgate::model
