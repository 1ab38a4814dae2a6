#include "services/model/directory/tensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/directory/lines.hpp"

namespace stackgate::model {
namespace {

using test::lines;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Config small() {
  return {.hidden = 8,
          .intermediate = 12,
          .layers = 1,
          .heads = 4,
          .key_value_heads = 2,
          .head_width = 6,
          .vocabulary = 30,
          .context = 16};
}

/// What a sound file of this model holds.
Shard whole(const Config& config, const std::string& file = "model.safetensors") {
  Shard out{.file = file, .header = {}};
  for (const ExpectedTensor& each : expected_tensors(config))
    out.header.tensors.push_back({.name = each.name, .dtype = "BF16", .shape = each.shape});
  return out;
}

safetensors::Tensor& tensor(Shard& shard, std::string_view name) {
  return *std::ranges::find(shard.header.tensors, name, &safetensors::Tensor::name);
}

TEST(ExpectedTensors, have_rows_of_heads_and_columns_of_the_stream) {
  std::vector<std::string> out;
  for (const ExpectedTensor& each : expected_tensors(small())) {
    out.push_back(each.name);
    for (const auto size : each.shape) out.back() += " " + std::to_string(size);
  }
  EXPECT_THAT(
      out, ElementsAre("model.embed_tokens.weight 30 8", "model.layers.0.input_layernorm.weight 8",
                       "model.layers.0.self_attn.q_proj.weight 24 8", "model.layers.0.self_attn.k_proj.weight 12 8",
                       "model.layers.0.self_attn.v_proj.weight 12 8", "model.layers.0.self_attn.o_proj.weight 8 24",
                       "model.layers.0.post_attention_layernorm.weight 8", "model.layers.0.mlp.gate_proj.weight 12 8",
                       "model.layers.0.mlp.up_proj.weight 12 8", "model.layers.0.mlp.down_proj.weight 8 12",
                       "model.norm.weight 8", "lm_head.weight 30 8"));
}

TEST(ExpectedTensors, follow_biases_and_a_tied_head) {
  Config config = small();
  config.query_key_value_bias = true;
  config.tied_head = true;
  EXPECT_THAT(expected_tensors(config), SizeIs(12 + 3 - 1));
  config.output_bias = config.mlp_bias = true;
  EXPECT_THAT(expected_tensors(config), SizeIs(12 + 7 - 1));
}

TEST(CheckTensors, takes_a_whole_model_and_what_published_files_have_besides) {
  EXPECT_THAT(lines(check_tensors(small(), std::vector{whole(small())}, nullptr)), IsEmpty());
  Config tied = small();
  tied.tied_head = true;
  Shard shard = whole(small());  // with lm_head.weight
  shard.header.tensors.push_back(
      {.name = "model.layers.0.self_attn.rotary_emb.inv_freq", .dtype = "F32", .shape = {3}});
  EXPECT_THAT(lines(check_tensors(tied, std::vector{shard}, nullptr)), IsEmpty());
}

TEST(CheckTensors, names_the_tensor_and_the_file) {
  Shard shard = whole(small());
  tensor(shard, "model.layers.0.mlp.up_proj.weight").shape = {8, 12};
  tensor(shard, "model.norm.weight").dtype = "I8";
  tensor(shard, "lm_head.weight").name = "lm_head.bias";
  shard.header.faults.push_back({.tensor = "x", .problem = "overlaps with \"y\"", .fix = "save it again"});
  EXPECT_THAT(
      lines(check_tensors(small(), std::vector{shard}, nullptr)),
      ElementsAre("model.safetensors: x: overlaps with \"y\"",
                  "model.safetensors: model.layers.0.mlp.up_proj.weight: has the shape [8, 12] where config.json says "
                  "[12, 8]",
                  "model.safetensors: model.norm.weight: has the type I8",
                  "model.safetensors: lm_head.bias: is no tensor of this llama model",
                  "*.safetensors: lm_head.weight: is missing"));
}

TEST(CheckTensors, holds_shards_against_the_index) {
  Shard first = whole(small(), "a.safetensors"), second{.file = "b.safetensors", .header = {}};
  second.header.tensors = {first.header.tensors.back()};
  WeightIndex index;
  for (const auto& each : first.header.tensors) index.files.emplace(each.name, "a.safetensors");
  EXPECT_THAT(lines(check_tensors(small(), std::vector{first, second}, &index)),
              ElementsAre("b.safetensors: lm_head.weight: is in a.safetensors, too"));
  first.header.tensors.pop_back();
  EXPECT_THAT(lines(check_tensors(small(), std::vector{first, second}, &index)),
              ElementsAre("b.safetensors: lm_head.weight: is in a.safetensors by model.safetensors.index.json"));
  index.files.erase("lm_head.weight");
  EXPECT_THAT(lines(check_tensors(small(), std::vector{first, second}, &index)),
              ElementsAre("b.safetensors: lm_head.weight: is not in model.safetensors.index.json"));
}

TEST(CheckTensors, stops_at_a_hundred_findings) {
  Config config = small();
  config.layers = 400;
  EXPECT_THAT(check_tensors(config, {}, nullptr), SizeIs(100));
}

TEST(ReadWeightIndex, takes_names_in_the_directory_only) {
  const auto good = read_weight_index(R"({"metadata":{"total_size":1},"weight_map":{"a":"m-1.safetensors"}})");
  EXPECT_THAT(good.findings, IsEmpty());
  EXPECT_EQ(good.files.at("a"), "m-1.safetensors");
  for (const std::string_view bad : {"../x.safetensors", "/etc/x.safetensors", "sub/x.safetensors", ".x.safetensors",
                                     "x.bin", "", "..", "pytorch_model.bin"}) {
    const auto read = read_weight_index(R"({"weight_map":{"a":")" + std::string(bad) + R"("}})");
    EXPECT_THAT(
        lines(read.findings),
        ElementsAre("model.safetensors.index.json: weight_map.a: must be the name of a .safetensors file in the "
                    "same directory"))
        << bad;
    EXPECT_THAT(read.files, IsEmpty()) << bad;
  }
  for (const std::string_view bad : {"{}", "[]", "{", R"({"weight_map":[]})", R"({"weight_map":{"a":"b","a":"c"}})"})
    EXPECT_TRUE(validate::has_errors(read_weight_index(bad).findings)) << bad;
}

}  // namespace
}  // namespace stackgate::model
