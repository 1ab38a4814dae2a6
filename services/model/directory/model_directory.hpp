// A model's directory as one checked value. Pure: services/model/loading reads the files.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/model/directory/config.hpp"
#include "services/model/directory/generation.hpp"
#include "services/model/directory/tensor_place.hpp"
#include "services/model/directory/tensors.hpp"
#include "services/model/directory/tokenizer_config.hpp"

namespace stackgate::model {

/// What was found in a directory; nothing for a file that is not there.
struct DirectoryFiles {
  std::optional<std::string> config, generation, tokenizer, tokenizer_config;
  std::optional<std::string> chat_template;  // chat_template.jinja
  std::optional<WeightIndex> index;          // of the shards
  std::vector<Shard> shards;
};

struct StoredTensor {
  std::uint32_t file = 0;  // index into ModelDirectory::files
  TensorPlace place;
};

struct ModelDirectory {
  Config config;
  tokenizer::Description tokenizer;
  SpecialTokens special_tokens;
  std::vector<NamedTemplate> templates;  // empty: the model has none
  Generation generation;
  /// Tokens that end a text, ascending: those of config.json, of generation_config.json and the tokenizer's eos_token.
  std::vector<std::uint32_t> end_ids;
  /// Positions: config.context, or less where tokenizer_config.json has a lower model_max_length.
  std::uint32_t context = 0;
  std::vector<std::string> files;  // names of the safetensors files
  /// Exactly the expected_tensors(config), by name.
  std::map<std::string, StoredTensor, std::less<>> tensors;
};

struct DirectoryRead {
  ModelDirectory model;         // to be used only when there are no errors
  validate::Findings findings;  // of all files: "FILE: member: …"
};

DirectoryRead read_directory(const DirectoryFiles& files);

/// Which files of a directory hold the weights.
struct WeightFiles {
  std::string single;           // "model.safetensors", or empty
  bool has_index = false;       // then the shards are those of model.safetensors.index.json
  validate::Findings findings;  // there are none; what is there cannot be read
};

inline constexpr std::string_view single_weights = "model.safetensors", index_name = "model.safetensors.index.json";

/// `names` of all files of the directory. Pickles are never read; they do no harm beside safetensors.
WeightFiles find_weights(const std::vector<std::string>& names);

}  // namespace stackgate::model
