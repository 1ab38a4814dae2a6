// A LoRA adapter for the model of tests/model/small_model.hpp.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "services/inference/adapters/check.hpp"
#include "tests/model/small_model.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::inference::test {

inline const std::string small_adapter_config =
    R"({"peft_type":"LORA","r":2,"lora_alpha":4,"target_modules":["up_proj"],"base_model_name_or_path":"small"})";

/// `in` other than 8 does not fit.
inline std::string small_adapter_weights(std::uint64_t in = 8) {
  const std::string module = "base_model.model.model.layers.0.mlp.up_proj.lora_";
  return model::test::safetensors_file(
      std::vector<model::ExpectedTensor>{{module + "A.weight", {2, in}}, {module + "B.weight", {12, 2}}}, "F32");
}

inline void write_small_adapter(const stackgate::test::TempDir& directory, const std::string& name,
                                std::uint64_t in = 8) {
  std::filesystem::create_directories(directory / name);
  directory.write(name + "/adapter_config.json", small_adapter_config);
  directory.write(name + "/adapter_model.safetensors", small_adapter_weights(in));
}

inline model::Config small_base() { return model::read_config(model::test::small_config).config; }

}  // namespace stackgate::inference::test
