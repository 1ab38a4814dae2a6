// A LoRA adapter as PEFT saves it, held against the model that is to serve it. Pure: over the header, no values are
// read. Source: PEFT's LoraConfig and its layers (https://huggingface.co/docs/peft/package_reference/lora).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "services/kit/safetensors/header.hpp"
#include "services/model/directory/config.hpp"
#include "services/model/directory/tensor_place.hpp"

namespace stackgate::model {

/// The linear modules that adapters may change.
enum class Linear : std::uint8_t { query, key, value, output, gate, up, down, head };

/// "self_attn.q_proj", …, "lm_head".
std::string_view to_string(Linear linear);

/// y = W·x + scale·B·(A·x)
struct AdapterModule {
  std::uint32_t layer = 0;  // 0 for the head
  Linear linear = Linear::query;
  std::uint32_t rank = 0;  // at least 1
  double scale = 0;        // alpha / rank, or alpha / √rank, of this module
  TensorPlace a;           // [rank, in], in adapter_model.safetensors
  TensorPlace b;           // [out, rank]
};

struct Adapter {
  std::vector<AdapterModule> modules;  // by layer, then by Linear; the head last
  std::uint32_t largest_rank = 0;
  std::string base_model;  // base_model_name_or_path: compare with peft::compare_models
  /// Scale or rank differ between modules. vLLM takes one scale for all: it would answer differently.
  bool has_patterns = false;
};

struct AdapterRead {
  Adapter adapter;  // to be used only when there are no errors
  /// Paths: "adapter[adapter_config.json].r", "adapter[adapter_model.safetensors][<tensor>]". At most 100 of each
  /// file. Warnings say what is served otherwise than its trainer may think.
  validate::Findings findings;
};

struct AdapterLimits {
  std::uint32_t max_rank = 64;
};

/// Of the files adapter_config.json, as a text, and adapter_model.safetensors.
AdapterRead check_adapter(const Config& base, std::string_view config_json, const safetensors::FileHeader& weights,
                          const AdapterLimits& limits = {});

}  // namespace stackgate::model
