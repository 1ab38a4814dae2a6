// A trained tensor in the array that holds them all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stackgate::trainer {

struct Parameter {
  std::string name;  // as its file has it: "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"
  std::vector<std::uint64_t> shape;
  std::size_t offset = 0, count = 0;

  /// Its part of an array of all.
  template <class T>
  std::span<T> of(std::span<T> all) const {
    return all.subspan(offset, count);
  }
};

}  // namespace stackgate::trainer
