// Where a tensor's values lie in a safetensors file.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "services/model/dtype.hpp"

namespace stackgate::model {

constexpr std::string_view to_string(Dtype type) {
  return type == Dtype::f32 ? "F32" : type == Dtype::f16 ? "F16" : "BF16";
}
constexpr std::optional<Dtype> dtype_of(std::string_view name) {
  for (const Dtype each : {Dtype::f32, Dtype::f16, Dtype::bf16})
    if (to_string(each) == name) return each;
  return std::nullopt;
}

struct TensorPlace {
  std::uint64_t offset = 0;          // from the file's beginning; often a multiple of 8, by no promise
  std::uint64_t bytes = 0;           // elements times bytes_of(dtype): checked
  Dtype dtype = Dtype::f32;          // little-endian
  std::vector<std::uint64_t> shape;  // row-major; weights are [out, in]
};

}  // namespace stackgate::model
