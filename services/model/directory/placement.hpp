// Where a model is computed, and in which type. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "services/model/directory/model_directory.hpp"

namespace stackgate::model {

enum class Device : std::uint8_t { cpu, cuda };

constexpr std::string_view to_string(Device device) { return device == Device::cpu ? "cpu" : "cuda"; }

/// Of a setting: "float32", "float16" or "bfloat16"; everything else, "auto" among it: nothing.
constexpr std::optional<Dtype> arithmetic_of(std::string_view name) {
  if (name == "float32") return Dtype::f32;
  if (name == "float16") return Dtype::f16;
  if (name == "bfloat16") return Dtype::bf16;
  return std::nullopt;
}
constexpr std::string_view arithmetic_name(Dtype type) {
  return type == Dtype::f32 ? "float32" : type == Dtype::f16 ? "float16" : "bfloat16";
}

/// Products are made, and keys and values kept, in `dtype`; what lies between them is float32.
struct Placement {
  Device device = Device::cpu;
  Dtype dtype = Dtype::f32;
};

/// Nothing asked: float32 on a CPU, on a GPU the type of the model's matrices (float32 where they differ). The error is
/// a sentence: this device does not compute in that type.
std::expected<Placement, std::string> placement(Device device, std::optional<Dtype> asked, const ModelDirectory& model);

}  // namespace stackgate::model
