#include "services/model/directory/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/directory/lines.hpp"

namespace stackgate::model {
namespace {

using test::lines;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// The smallest llama, with more members.
std::string llama(std::string_view more = {}) {
  return R"({"model_type":"llama","hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,)"
         R"("num_attention_heads":8,"vocab_size":300)" +
         (more.empty() ? std::string() : "," + std::string(more)) + "}";
}

std::string changed(std::string json, std::string_view from, std::string_view to) {
  const std::size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? json : json.replace(at, from.size(), to);
}

TEST(ReadConfig, takes_what_is_absent_or_null_from_transformers) {
  for (const std::string& json :
       {llama(), llama(R"("num_key_value_heads":null,"head_dim":null,"rope_scaling":null,"rope_theta":null)")}) {
    const auto [config, findings] = read_config(json);
    ASSERT_THAT(lines(findings), IsEmpty());
    EXPECT_EQ(config.family, Family::llama);
    EXPECT_EQ(config.key_value_heads, 8U);
    EXPECT_EQ(config.head_width, 8U);
    EXPECT_EQ(config.context, 2048U);
    EXPECT_EQ(config.norm_epsilon, 1e-6);
    EXPECT_EQ(config.rope.kind, Rope::Kind::plain);
    EXPECT_EQ(config.rope.theta, 10'000);
    EXPECT_FALSE(config.tied_head || config.query_key_value_bias || config.output_bias || config.mlp_bias);
    EXPECT_THAT(config.end_ids, IsEmpty());
  }
}

TEST(ReadConfig, reads_llama_3_2_as_it_is_published) {
  const auto [config, findings] = read_config(R"({"architectures":["LlamaForCausalLM"],"attention_bias":false,
    "attention_dropout":0.0,"bos_token_id":128000,"eos_token_id":[128001,128008,128009],"head_dim":64,"hidden_act":"silu",
    "hidden_size":2048,"initializer_range":0.02,"intermediate_size":8192,"max_position_embeddings":131072,"mlp_bias":false,
    "model_type":"llama","num_attention_heads":32,"num_hidden_layers":16,"num_key_value_heads":8,"pretraining_tp":1,
    "rms_norm_eps":1e-05,"rope_scaling":{"factor":32.0,"high_freq_factor":4.0,"low_freq_factor":1.0,
    "original_max_position_embeddings":8192,"rope_type":"llama3"},"rope_theta":500000.0,"tie_word_embeddings":true,
    "torch_dtype":"bfloat16","use_cache":true,"vocab_size":128256})");
  ASSERT_THAT(lines(findings), IsEmpty());
  EXPECT_EQ(config.key_value_heads, 8U);
  EXPECT_EQ(config.head_width, 64U);
  EXPECT_EQ(config.context, 131'072U);
  EXPECT_EQ(config.rope.kind, Rope::Kind::llama3);
  EXPECT_EQ(config.rope.theta, 500'000);
  EXPECT_EQ(config.rope.factor, 32);
  EXPECT_EQ(config.rope.original_context, 8192U);
  EXPECT_TRUE(config.tied_head);
  EXPECT_THAT(config.end_ids, ElementsAre(128'001, 128'008, 128'009));
}

TEST(ReadConfig, reads_positions_of_newer_files_and_of_older_ones) {
  const auto newer = read_config(llama(R"("rope_parameters":{"rope_type":"linear","factor":4,"rope_theta":5e5})"));
  ASSERT_THAT(lines(newer.findings), IsEmpty());
  EXPECT_EQ(newer.config.rope.kind, Rope::Kind::linear);
  EXPECT_EQ(newer.config.rope.factor, 4);
  EXPECT_EQ(newer.config.rope.theta, 500'000);
  const auto older = read_config(llama(R"("rope_scaling":{"type":"linear","factor":2.5})"));
  ASSERT_THAT(lines(older.findings), IsEmpty());
  EXPECT_EQ(older.config.rope.factor, 2.5);
}

TEST(ReadConfig, knows_the_biases_of_each_family) {
  const auto of = [](std::string_view family, std::string_view more) {
    return read_config(changed(llama(more), "\"llama\"", "\"" + std::string(family) + "\"")).config;
  };
  const auto biased = of("llama", R"("attention_bias":true,"mlp_bias":true)");
  EXPECT_TRUE(biased.query_key_value_bias && biased.output_bias && biased.mlp_bias);
  const auto qwen = of("qwen2", R"("attention_bias":false)");
  EXPECT_TRUE(qwen.query_key_value_bias);
  EXPECT_FALSE(qwen.output_bias || qwen.mlp_bias);
  EXPECT_FALSE(of("mistral", R"("sliding_window":null)").query_key_value_bias);
}

TEST(ReadConfig, limits_the_context_to_an_active_window_and_says_so) {
  struct Case {
    std::string_view family, more;
    std::uint32_t context;
    std::size_t warnings;
  };
  const std::vector<Case> cases{
      {"mistral", R"("max_position_embeddings":32768,"sliding_window":4096)", 4096, 1},
      {"mistral", R"("max_position_embeddings":32768,"sliding_window":null)", 32768, 0},
      {"mistral", R"("max_position_embeddings":32768)", 4096, 1},  // transformers' own default
      {"mistral", R"("max_position_embeddings":2048,"sliding_window":4096)", 2048, 0},
      {"qwen2", R"("max_position_embeddings":32768,"sliding_window":1024,"use_sliding_window":false)", 32768, 0},
      {"qwen2", R"("max_position_embeddings":32768,"sliding_window":1024,"use_sliding_window":true)", 1024, 1},
      {"qwen2", R"("max_position_embeddings":32768,"sliding_window":1024)", 32768, 0},
      {"llama", R"("max_position_embeddings":32768,"sliding_window":1024)", 32768, 0},
  };
  for (const Case& each : cases) {
    const auto read = read_config(changed(llama(each.more), "\"llama\"", "\"" + std::string(each.family) + "\""));
    EXPECT_EQ(read.config.context, each.context) << each.family << each.more;
    EXPECT_THAT(read.findings, SizeIs(each.warnings)) << each.family << each.more;
    EXPECT_FALSE(validate::has_errors(read.findings));
  }
}

TEST(ReadConfig, names_each_fault_and_its_place) {
  struct Fault {
    std::string json, line;
  };
  const std::vector<Fault> faults{
      {changed(llama(), "\"llama\"", "\"gemma2\""),
       "config.json: model_type: the architecture \"gemma2\" is not served"},
      {changed(llama(), "\"llama\"", "7"), "config.json: model_type: must be a text"},
      {changed(llama(), R"("model_type":"llama",)", ""), "config.json: lacks \"model_type\""},
      {llama(R"("architectures":["LlamaForSequenceClassification"])"),
       "config.json: architectures[0]: is no LlamaForCausalLM: only the model that generates text is served"},
      {changed(llama(), R"("hidden_size":64,)", ""), "config.json: lacks \"hidden_size\""},
      {changed(llama(), R"("hidden_size":64)", R"("hidden_size":0)"),
       "config.json: hidden_size: must be a whole number from 1 to 65536"},
      {changed(llama(), R"("hidden_size":64)", R"("hidden_size":64.5)"),
       "config.json: hidden_size: must be a whole number from 1 to 65536"},
      {changed(llama(), R"("num_hidden_layers":2)", R"("num_hidden_layers":100000)"),
       "config.json: num_hidden_layers: must be a whole number from 1 to 512"},
      {llama(R"("num_key_value_heads":3)"),
       "config.json: num_key_value_heads: num_attention_heads, 8, is no multiple of it"},
      {changed(llama(), R"("hidden_size":64)", R"("hidden_size":65)"),
       "config.json: hidden_size: is no multiple of num_attention_heads, 8"},
      {llama(R"("head_dim":7)"), "config.json: its heads are 7 wide: positions need pairs"},
      {llama(R"("hidden_act":"gelu")"), "config.json: hidden_act: the activation \"gelu\" is not served"},
      {llama(R"("quantization_config":{"quant_method":"awq"})"),
       "config.json: quantization_config: quantized weights are not supported"},
      {llama(R"("rms_norm_eps":-1)"), "config.json: rms_norm_eps: must be a number above 0"},
      {llama(R"("rope_scaling":{"rope_type":"yarn","factor":4})"),
       "config.json: rope_scaling: the scaling of positions \"yarn\" is not served"},
      {llama(R"("rope_scaling":{"rope_type":"linear"})"), "config.json: rope_scaling: lacks \"factor\""},
      {llama(R"("rope_scaling":"linear")"), "config.json: rope_scaling: must be an object"},
      {llama(R"("rope_scaling":{"rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4})"),
       "config.json: rope_scaling: lacks \"original_max_position_embeddings\""},
      {llama(R"("partial_rotary_factor":0.5)"),
       "config.json: partial_rotary_factor: positions in a part of each head are not served"},
      {llama(R"("eos_token_id":[2,"</s>"])"), "config.json: eos_token_id: must be the id of a token, or a list of ids"},
      {llama(R"("tie_word_embeddings":"yes")"), "config.json: tie_word_embeddings: must be true or false"},
      {"[]", "config.json: must be an object"},
      {"", "config.json: the text is empty"},
  };
  for (const Fault& fault : faults) {
    const auto read = read_config(fault.json);
    EXPECT_THAT(lines(read.findings), ElementsAre(fault.line)) << fault.json;
    EXPECT_TRUE(validate::has_errors(read.findings)) << fault.json;
  }
}

TEST(ReadConfig, names_all_faults_at_once) {
  EXPECT_THAT(read_config(R"({"model_type":"llama","hidden_act":"relu","rms_norm_eps":"small"})").findings, SizeIs(7));
}

}  // namespace
}  // namespace stackgate::model
