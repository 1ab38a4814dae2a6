// Does the adapter fit the model it is said to be for, and what its uploader says of it? Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/peft/tensors.hpp"

namespace stackgate::peft {

enum class SameModel : std::uint8_t { same, different, unknown };  // unknown: a path, or nothing

/// Compares names of models as people write them: without case, with or without an owner ("meta/", "meta-llama/"), '_'
/// for '-', as a URL, as a path in a cache of Hugging Face's.
SameModel compare_models(std::string_view file, std::string_view metadata);

/// A model's own sizes, from its config.json; 0 for what it does not say.
struct ModelShape {
  std::uint64_t layers = 0, hidden = 0, intermediate = 0, query = 0, key_value = 0, vocabulary = 0;
};
std::optional<ModelShape> read_model_shape(std::string_view config_json);

/// What the uploader's metadata says of the adapter, where it says it.
struct Claimed {
  std::string base_model;
  std::optional<std::int64_t> rank;
  std::optional<double> alpha, dropout;
  std::optional<std::vector<std::string>> target_modules;
};

validate::Findings check_claims(const Claimed& claimed, const Config& config);
validate::Findings check_dimensions(const Tensors& tensors, const ModelShape& shape);

/// target_modules for the record: the list, or for an expression the module names that have weights.
std::vector<std::string> target_names(const Config& config, const Tensors& tensors);

}  // namespace stackgate::peft
