#include "services/model/directory/tokenizer_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/directory/lines.hpp"

namespace stackgate::model {
namespace {

using test::lines;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(ReadTokenizerConfig, takes_tokens_as_texts_and_as_objects_in_the_files_order) {
  const auto [config, findings] = read_tokenizer_config(R"({"add_bos_token":true,"add_eos_token":false,
    "unk_token":{"__type":"AddedToken","content":"<unk>","lstrip":false},"bos_token":"<s>","pad_token":null,
    "eos_token":{"content":"</s>"},"additional_special_tokens":["<a>",{"content":"<b>"}],
    "extra_special_tokens":{"image_token":"<img>"},"model_max_length":4096,"clean_up_tokenization_spaces":false,
    "tokenizer_class":"PreTrainedTokenizerFast","chat_template":"{{ messages }}"})");
  ASSERT_THAT(lines(findings), IsEmpty());
  EXPECT_THAT(config.special_tokens.texts, ElementsAre(Pair("unk_token", "<unk>"), Pair("bos_token", "<s>"),
                                                       Pair("eos_token", "</s>"), Pair("image_token", "<img>")));
  EXPECT_THAT(config.special_tokens.additional, ElementsAre("<a>", "<b>"));
  EXPECT_EQ(*config.special_tokens.find("eos_token"), "</s>");
  EXPECT_EQ(config.special_tokens.find("pad_token"), nullptr);
  EXPECT_TRUE(config.add_bos);
  EXPECT_FALSE(config.add_eos);
  EXPECT_EQ(config.max_length, 4096U);
  ASSERT_EQ(config.templates.size(), 1U);
  EXPECT_EQ(config.templates[0].name, "default");
  EXPECT_EQ(config.templates[0].source, "{{ messages }}");
}

TEST(ReadTokenizerConfig, takes_a_list_of_templates_by_name) {
  const auto [config, findings] = read_tokenizer_config(
      R"({"chat_template":[{"name":"default","template":"a"},{"name":"tool_use","template":"b"}]})");
  ASSERT_THAT(lines(findings), IsEmpty());
  ASSERT_EQ(config.templates.size(), 2U);
  EXPECT_EQ(config.templates[1].name, "tool_use");
  EXPECT_EQ(config.templates[1].source, "b");
}

TEST(ReadTokenizerConfig, takes_the_number_that_means_no_limit_as_none) {
  const auto [config, findings] = read_tokenizer_config(R"({"model_max_length":1000000000000000019884624838656})");
  ASSERT_THAT(lines(findings), IsEmpty());
  EXPECT_EQ(config.max_length, std::nullopt);
}

TEST(ReadTokenizerConfig, knows_which_classes_begin_texts_by_themselves) {
  EXPECT_TRUE(read_tokenizer_config(R"({"tokenizer_class":"LlamaTokenizerFast"})").config.add_bos);
  EXPECT_FALSE(
      read_tokenizer_config(R"({"tokenizer_class":"LlamaTokenizerFast","add_bos_token":false})").config.add_bos);
  EXPECT_FALSE(read_tokenizer_config(R"({"tokenizer_class":"Qwen2Tokenizer"})").config.add_bos);
}

TEST(ReadTokenizerConfig, names_each_fault_and_its_place) {
  struct Fault {
    std::string json, line;
  };
  const std::vector<Fault> faults{
      {R"({"eos_token":7})", "tokenizer_config.json: eos_token: must be a text, or an object with \"content\""},
      {R"({"eos_token":{"text":"</s>"}})",
       "tokenizer_config.json: eos_token: must be a text, or an object with \"content\""},
      {R"({"add_bos_token":"yes"})", "tokenizer_config.json: add_bos_token: must be true or false"},
      {R"({"additional_special_tokens":{"a":"b"}})",
       "tokenizer_config.json: additional_special_tokens: must be a list of at most 1024 tokens"},
      {R"({"additional_special_tokens":["a",1]})",
       "tokenizer_config.json: additional_special_tokens[1]: must be a text, or an object with \"content\""},
      {R"({"chat_template":1})",
       "tokenizer_config.json: chat_template: must be a text, or a list of at most 16 templates"},
      {R"({"chat_template":[{"name":"default"}]})",
       "tokenizer_config.json: chat_template[0]: must be an object with \"name\" and \"template\""},
      {R"({"chat_template":[{"name":"a","template":"x"},{"name":"a","template":"y"}]})",
       "tokenizer_config.json: chat_template[1]: the name \"a\" stands twice"},
      {R"({"model_max_length":"long"})", "tokenizer_config.json: model_max_length: must be a number of tokens"},
      {R"({"chat_template":")" + std::string((1U << 20U) + 1, 'x') + R"("})",
       "tokenizer_config.json: chat_template: has more than 1 MiB"},
      {"[]", "tokenizer_config.json: must be an object"},
  };
  for (const Fault& fault : faults) {
    const auto read = read_tokenizer_config(fault.json);
    EXPECT_THAT(lines(read.findings), ElementsAre(fault.line)) << fault.json.substr(0, 200);
    EXPECT_TRUE(validate::has_errors(read.findings)) << fault.json.substr(0, 200);
  }
}

tokenizer::Description with_tokens() {
  tokenizer::Description out;
  out.added = {{.id = 7, .content = "<s>", .special = true}, {.id = 9, .content = "</s>", .special = true}};
  return out;
}

TEST(Surround, fills_what_a_file_without_a_template_puts_around_a_text) {
  TokenizerConfig config{.special_tokens = {.texts = {{"bos_token", "<s>"}, {"eos_token", "</s>"}}}};
  tokenizer::Description tokenizer = with_tokens();
  EXPECT_THAT(surround(config, tokenizer), IsEmpty());
  EXPECT_THAT(tokenizer.prefix, IsEmpty());
  config.add_bos = config.add_eos = true;
  EXPECT_THAT(surround(config, tokenizer), IsEmpty());
  EXPECT_THAT(tokenizer.prefix, ElementsAre(7));
  EXPECT_THAT(tokenizer.suffix, ElementsAre(9));
}

TEST(Surround, leaves_the_template_of_tokenizer_json_alone) {
  tokenizer::Description tokenizer = with_tokens();
  tokenizer.has_template = true;
  EXPECT_THAT(surround({.special_tokens = {.texts = {{"bos_token", "<s>"}}}, .add_bos = true}, tokenizer), IsEmpty());
  EXPECT_THAT(tokenizer.prefix, IsEmpty());
}

TEST(Surround, names_a_token_that_is_to_be_added_and_is_none) {
  tokenizer::Description tokenizer = with_tokens();
  EXPECT_THAT(
      lines(surround({.special_tokens = {.texts = {{"bos_token", "<begin>"}}}, .add_bos = true, .add_eos = true},
                     tokenizer)),
      ElementsAre("tokenizer_config.json: bos_token: \"<begin>\" is no token of tokenizer.json",
                  "tokenizer_config.json: eos_token: is missing, and is to be put around each text"));
}

}  // namespace
}  // namespace stackgate::model
