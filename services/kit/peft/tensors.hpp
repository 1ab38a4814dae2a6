// Do the tensors fit the configuration? Names, pairs, ranks, target modules, types. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "services/kit/peft/config.hpp"
#include "services/kit/safetensors/header.hpp"

namespace stackgate::peft {

/// What is known of a module that the adapter changes.
struct Module {
  std::int64_t rank = 0;
  std::uint64_t in = 0, out = 0;
  bool embedding = false;
};

struct Tensors {
  std::map<std::string, Module> modules;  // by path, "model.layers.0.self_attn.q_proj"
  std::uint64_t parameters = 0;
  validate::Findings findings;  // paths: "adapter[adapter_model.safetensors][<tensor>]"
};

Tensors check_tensors(const safetensors::Header& header, const Config& config);

}  // namespace stackgate::peft
