// Arrays of float32 as safetensors files, and back. Errors are sentences that name the file.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/trainer/checkpoint/durable.hpp"

namespace stackgate::trainer {

struct NamedTensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::span<const float> values;  // as many as the shape has
};

/// With {"format": "pt"} in the header, which readers of adapters demand.
Done write_tensors(const std::string& path, std::span<const NamedTensor> tensors);

struct TensorSpace {
  std::string name;
  std::span<float> values;
};

/// Fills all of them; the file must hold each with as many values, and nothing else.
Done read_tensors(const std::string& path, std::span<const TensorSpace> spaces);

}  // namespace stackgate::trainer
