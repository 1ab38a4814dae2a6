#include "services/model/directory/model_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/model/directory/memory.hpp"
#include "tests/model/directory/lines.hpp"
#include "tests/model/small_model.hpp"

namespace stackgate::model {
namespace {

using test::lines;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

DirectoryFiles small_files() {
  const std::string file = test::safetensors_file(expected_tensors(read_config(test::small_config).config));
  auto [header, data_at] = safetensors::read_file(file);
  return {.config = test::small_config,
          .generation = test::small_generation,
          .tokenizer = test::small_tokenizer,
          .tokenizer_config = test::small_tokenizer_config,
          .chat_template = {},
          .index = {},
          .shards = {{.file = "model.safetensors", .header = header, .data_at = data_at}}};
}

TEST(ReadDirectory, puts_the_files_of_a_model_together) {
  const auto [model, findings] = read_directory(small_files());
  ASSERT_THAT(lines(findings), IsEmpty());
  EXPECT_THAT(model.end_ids, ElementsAre(5, 7));
  EXPECT_THAT(model.tokenizer.prefix, ElementsAre(6));
  EXPECT_EQ(model.context, 64U);
  EXPECT_EQ(model.generation.temperature, 0.5);
  EXPECT_EQ(*model.special_tokens.find("bos_token"), "<s>");
  ASSERT_THAT(model.templates, SizeIs(1));
  EXPECT_THAT(model.files, ElementsAre("model.safetensors"));
  EXPECT_THAT(model.tensors, SizeIs(12));
  const StoredTensor& up = model.tensors.at("model.layers.0.mlp.up_proj.weight");
  EXPECT_THAT(up.place.shape, ElementsAre(12, 8));
  EXPECT_EQ(up.place.bytes, 12U * 8 * 2);
  EXPECT_EQ(up.place.dtype, Dtype::bf16);
  EXPECT_GT(up.place.offset, 0U);
}

TEST(ReadDirectory, takes_the_template_of_a_file_before_that_of_the_tokenizer) {
  DirectoryFiles files = small_files();
  files.chat_template = "from the file";
  const auto [model, findings] = read_directory(files);
  ASSERT_THAT(model.templates, SizeIs(1));
  EXPECT_EQ(model.templates[0].source, "from the file");
}

TEST(ReadDirectory, needs_configuration_and_tokenizer_and_nothing_else_beside_the_weights) {
  DirectoryFiles files = small_files();
  files.generation = files.tokenizer_config = std::nullopt;
  EXPECT_THAT(lines(read_directory(files).findings), IsEmpty());
  files.config = files.tokenizer = std::nullopt;
  EXPECT_THAT(lines(read_directory(files).findings),
              ElementsAre("config.json: is missing", "tokenizer.json: is missing"));
}

TEST(ReadDirectory, names_the_faults_of_all_files_at_once) {
  DirectoryFiles files = small_files();
  files.tokenizer = "{}";
  files.generation = R"({"temperature":9})";
  files.tokenizer_config = R"({"eos_token":1})";
  files.shards[0].header.tensors.pop_back();
  EXPECT_THAT(
      lines(read_directory(files).findings),
      ElementsAre("tokenizer.json: lacks \"decoder\"", "tokenizer.json: lacks \"model\"",
                  "tokenizer_config.json: eos_token: must be a text, or an object with \"content\"",
                  "generation_config.json: temperature: must be a number from 0 to 2", HasSubstr("is missing")));
  files.config = "{}";
  files.shards[0].header.faults.push_back({.tensor = "x", .problem = "overlaps", .fix = "save it again"});
  EXPECT_THAT(lines(read_directory(files).findings),
              testing::AllOf(testing::Contains("config.json: lacks \"model_type\""),
                             testing::Contains("model.safetensors: x: overlaps"), SizeIs(6)));
}

TEST(ReadDirectory, warns_of_what_does_not_fit_together) {
  DirectoryFiles files = small_files();
  files.tokenizer_config = R"({"eos_token":"<none>","model_max_length":32})";
  files.generation = R"({"eos_token_id":700})";
  files.config = test::small_config;
  files.config->replace(files.config->find("\"vocab_size\":8"), 14, "\"vocab_size\":6");
  files.config->replace(files.config->find(",\"eos_token_id\":5"), 17, "");
  for (auto& each : files.shards[0].header.tensors)
    if (each.shape[0] == 8 && each.name.ends_with("head.weight")) each.shape[0] = 6;
  for (auto& each : files.shards[0].header.tensors)
    if (each.name.contains("embed_tokens")) each.shape[0] = 6;
  const auto [model, findings] = read_directory(files);
  EXPECT_FALSE(validate::has_errors(findings));
  EXPECT_THAT(
      lines(findings),
      ElementsAre("tokenizer_config.json: eos_token: \"<none>\" is no token of tokenizer.json",
                  "config.json: eos_token_id: the end id 700 of the model's files is not below vocab_size, 6",
                  "config.json: eos_token_id: no file says which token ends a text: texts end at their limit",
                  "tokenizer_config.json: model_max_length: 32 is less than the context of 64 in config.json: the "
                  "context is limited to it",
                  "config.json: vocab_size: the embedding has 6 rows, but tokenizer.json has 8 tokens: those beyond "
                  "are refused"));
  EXPECT_EQ(model.context, 32U);
  EXPECT_THAT(model.end_ids, IsEmpty());
}

TEST(FindWeights, takes_one_file_or_an_index) {
  EXPECT_EQ(find_weights({"model.safetensors", "model.safetensors.index.json"}).single, "model.safetensors");
  EXPECT_TRUE(find_weights({"model.safetensors.index.json", "model-00001-of-00002.safetensors"}).has_index);
  EXPECT_THAT(find_weights({"pytorch_model.bin", "model.safetensors"}).findings, IsEmpty());
}

TEST(FindWeights, refuses_pickles_by_name_and_says_what_to_do) {
  const auto found = find_weights({"config.json", "pytorch_model.bin", "a.pt", "b.pth", "c.ckpt"});
  EXPECT_THAT(lines(found.findings),
              ElementsAre(HasSubstr("a.pt: is a pickle"), HasSubstr("b.pth: is a pickle"),
                          HasSubstr("c.ckpt: is a pickle"), HasSubstr("pytorch_model.bin: is a pickle")));
  EXPECT_THAT(found.findings[0].fix, HasSubstr("save_pretrained"));
  EXPECT_THAT(lines(find_weights({"b.gguf", "x.safetensors"}).findings), ElementsAre(HasSubstr("b.gguf: is GGUF")));
  EXPECT_THAT(lines(find_weights({"config.json"}).findings), ElementsAre("model.safetensors: is missing"));
  EXPECT_THAT(lines(find_weights({"a.safetensors", "b.safetensors"}).findings),
              ElementsAre(HasSubstr("which of a.safetensors, b.safetensors belong to the model is not known")));
}

TEST(MemoryNeeded, counts_weights_by_type_and_the_cache_of_a_token) {
  const auto [model, findings] = read_directory(small_files());
  const MemoryNeeded needed = memory_needed(model);
  // embedding, head 2·8·8; q, o 2·8·8; k, v 2·4·8; gate, up, down 3·12·8; three norms 3·8
  EXPECT_EQ(needed.weights[static_cast<std::size_t>(Dtype::bf16)], 2U * (128 + 128 + 64 + 288 + 24));
  EXPECT_EQ(needed.all_weights(), needed.weights[2]);
  EXPECT_EQ(needed.cache_per_token, 2U * 1 * 2 * 2 * 4);
  EXPECT_EQ(memory_needed(model, Dtype::bf16).cache_per_token, 2U * 1 * 2 * 2 * 2);
}

}  // namespace
}  // namespace stackgate::model
