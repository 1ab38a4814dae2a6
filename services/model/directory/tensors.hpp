// Which tensors a model of a configuration has, and whether its safetensors files hold exactly these. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "services/kit/safetensors/header.hpp"
#include "services/model/directory/config.hpp"

namespace stackgate::model {

struct ExpectedTensor {
  std::string name;                  // "model.layers.0.self_attn.q_proj.weight"
  std::vector<std::uint64_t> shape;  // weights are [out, in]
};

/// In the order of the graph.
std::vector<ExpectedTensor> expected_tensors(const Config& config);

/// A safetensors file of the directory.
struct Shard {
  std::string file;  // "model-00001-of-00002.safetensors"
  safetensors::Header header;
  std::uint64_t data_at = 0;  // where the tensors' bytes begin in the file
};

/// "weight_map" of model.safetensors.index.json: tensor → file.
struct WeightIndex {
  std::map<std::string, std::string, std::less<>> files;
  validate::Findings findings;
};

inline constexpr std::size_t largest_index = 64U << 20U;  // bytes

/// Every file it names lies in the directory itself: no folders, no "..".
WeightIndex read_weight_index(std::string_view json);

/// What the headers' own faults, types, names, shapes and places say; at most 100 findings, the path of each is
/// "FILE: TENSOR". `index` may be nullptr: one file. `rotary_emb.inv_freq` and, with a tied head, `lm_head.weight` are
/// allowed and not used.
validate::Findings check_tensors(const Config& config, std::span<const Shard> shards, const WeightIndex* index);

/// The headers' own faults alone, for a model without a configuration.
validate::Findings header_findings(std::span<const Shard> shards);

}  // namespace stackgate::model
