// Directories drawn at random: sound ones are read whole, damaged ones never lead outside of their files.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/model/loading/load.hpp"
#include "services/model/loading/weights.hpp"
#include "tests/model/directory/lines.hpp"
#include "tests/model/small_model.hpp"
#include "tests/support/dice.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::model {
namespace {

using Files = std::map<std::string, std::string>;
using stackgate::testing::Dice;

std::string drawn_config(Dice& dice) {
  const char* const families[] = {"llama", "mistral", "qwen2"};
  const std::size_t groups = 1 + dice.roll(3), heads = groups * (1 + dice.roll(3)), width = 2 * (1 + dice.roll(4));
  return fmt::format(
      R"({{"model_type":"{}","hidden_size":{},"intermediate_size":{},"num_hidden_layers":{},"num_attention_heads":{},)"
      R"("num_key_value_heads":{},"head_dim":{},"vocab_size":{},"tie_word_embeddings":{},"attention_bias":{},)"
      R"("mlp_bias":{},"sliding_window":null,"max_position_embeddings":{},"eos_token_id":{}}})",
      dice.pick(families), 1 + dice.roll(20), 1 + dice.roll(20), 1 + dice.roll(4), heads, groups, width,
      8 + dice.roll(9), dice.chance(50), dice.chance(50), dice.chance(50), 1 + dice.roll(100), dice.roll(8));
}

/// One file, or up to four with an index; each with a type of its own.
Files drawn_model(Dice& dice) {
  const char* const types[] = {"F32", "F16", "BF16"};
  Files files = test::small_model();
  files["config.json"] = drawn_config(dice);
  const auto tensors = expected_tensors(read_config(files["config.json"]).config);
  const std::size_t shards = 1 + dice.roll(4);
  if (shards == 1) {
    files["model.safetensors"] = test::safetensors_file(tensors, dice.pick(types));
    return files;
  }
  files.erase("model.safetensors");
  std::vector<std::vector<ExpectedTensor>> parts(shards);
  std::string map;
  for (const ExpectedTensor& each : tensors) {
    const std::size_t shard = dice.roll(shards);
    parts[shard].push_back(each);
    map += fmt::format(R"({}"{}":"model-{}.safetensors")", map.empty() ? "" : ",", each.name, shard);
  }
  for (std::size_t i = 0; i < shards; ++i)
    if (!parts[i].empty())
      files[fmt::format("model-{}.safetensors", i)] = test::safetensors_file(parts[i], dice.pick(types));
  files["model.safetensors.index.json"] = R"({"weight_map":{)" + map + "}}";
  return files;
}

/// A file cut short, a byte changed, or a file gone.
void damage(Files& files, Dice& dice) {
  const auto file = std::next(files.begin(), static_cast<std::ptrdiff_t>(dice.roll(files.size())));
  const std::size_t at = dice.roll(std::min<std::size_t>(file->second.size(), 4000));
  switch (dice.roll(3)) {
    case 0:
      files.erase(file);
      break;
    case 1:
      file->second.resize(at);
      break;
    default:
      file->second[at] = static_cast<char>(static_cast<unsigned char>(dice.roll(256)));
  }
}

/// Every tensor that the model is said to have can be read.
void expect_weights(const stackgate::test::TempDir& folder, const ModelDirectory& model) {
  const auto weights = Weights::map(folder / ".", model);
  ASSERT_TRUE(weights) << weights.error().problem;
  unsigned sum = 0;
  for (const ExpectedTensor& each : expected_tensors(model.config)) {
    const StoredTensor& tensor = model.tensors.at(each.name);
    EXPECT_EQ(tensor.place.shape, each.shape) << each.name;
    for (const std::byte byte : weights->bytes(tensor)) sum += std::to_integer<unsigned>(byte);
  }
  EXPECT_GT(sum, 0U);
}

TEST(DrawnModels, are_read_whole) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Dice dice(seed);
    const stackgate::test::TempDir folder;
    const Files files = drawn_model(dice);
    for (const auto& [name, text] : files) folder.write(name, text);
    const auto [model, findings] = load_directory(folder / ".");
    ASSERT_FALSE(validate::has_errors(findings)) << seed << test::lines(findings)[0] << files.at("config.json");
    expect_weights(folder, model);
  }
}

TEST(DrawnModels, that_are_damaged_are_refused_or_still_hold_their_tensors) {
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    const stackgate::test::TempDir folder;
    Files files = drawn_model(dice);
    damage(files, dice);
    for (const auto& [name, text] : files) folder.write(name, text);
    const auto [model, findings] = load_directory(folder / ".");
    for (const auto& each : findings) EXPECT_FALSE(each.path.empty() || each.problem.empty() || each.fix.empty());
    if (validate::has_errors(findings)) ++refused;
    if (!validate::has_errors(findings)) expect_weights(folder, model);
  }
  EXPECT_GT(refused, 150);
}

}  // namespace
}  // namespace stackgate::model
