#include "services/kit/peft/config.hpp"

#include <gmock/gmock.h>

namespace stackgate::peft {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A good configuration with `more` members behind the others.
std::string with(std::string_view more) {
  std::string out =
      R"({"peft_type":"LORA","task_type":"CAUSAL_LM","base_model_name_or_path":"meta-llama/Llama-3.1-8B","bias":"none")";
  for (const auto& [name, member] : std::initializer_list<std::pair<const char*, const char*>>{
           {"\"r\"", R"("r":8)"},
           {"\"lora_alpha\"", R"("lora_alpha":16)"},
           {"\"target_modules\"", R"("target_modules":["q_proj","v_proj"])"}})
    if (!more.contains(name)) out += std::string(",") + member;
  return out + (more.empty() ? "" : ",") + std::string(more) + "}";
}

TEST(AdapterConfig, IsReadAsPeftWritesIt) {
  const ConfigRead read = read_config(with(
      R"("lora_dropout":0.05,"use_rslora":true,"modules_to_save":null,"rank_pattern":{},"use_dora":false,"revision":null)"));
  EXPECT_THAT(read.findings, IsEmpty());
  EXPECT_EQ(read.config.rank, 8);
  EXPECT_EQ(read.config.alpha, 16);
  EXPECT_TRUE(read.config.rslora);
  EXPECT_EQ(read.config.base_model, "meta-llama/Llama-3.1-8B");
  EXPECT_TRUE(read.config.targets.contains("model.layers.0.self_attn.q_proj"));
  EXPECT_FALSE(read.config.targets.contains("model.layers.0.self_attn.eq_proj"));
}

struct ConfigCase {
  const char* says;
  std::string text;
  const char* rule;
  const char* path;
};
class WrongConfigs : public testing::TestWithParam<ConfigCase> {};
TEST_P(WrongConfigs, AreTold) {
  const ConfigRead read = read_config(GetParam().text);
  ASSERT_EQ(read.findings.size(), 1U) << testing::PrintToString(read.findings.size());
  EXPECT_EQ(read.findings[0].rule, GetParam().rule);
  EXPECT_THAT(read.findings[0].path, testing::EndsWith(GetParam().path));
}
INSTANTIATE_TEST_SUITE_P(
    Table, WrongConfigs,
    testing::Values(
        ConfigCase{"NoJson", "{", "adapter-config-json", "[adapter_config.json]"},
        ConfigCase{"NoObject", "[]", "adapter-config-json", "[adapter_config.json]"},
        ConfigCase{"NotLora", R"({"peft_type":"IA3","r":8,"lora_alpha":8,"target_modules":["a"]})",
                   "adapter-config-kind", ".peft_type"},
        ConfigCase{"NotCausal",
                   R"({"peft_type":"LORA","task_type":"SEQ_CLS","r":8,"lora_alpha":8,"target_modules":["a"]})",
                   "adapter-config-kind", ".task_type"},
        ConfigCase{"RankNull", with(R"("r":null)"), "adapter-config-missing", ".r"},
        ConfigCase{"RankZero", with(R"("r":0)"), "adapter-config-type", ".r"},
        ConfigCase{"RankFraction", with(R"("r":8.5)"), "adapter-config-type", ".r"},
        ConfigCase{"RankTooLarge", with(R"("r":512)"), "adapter-not-servable", ".r"},
        ConfigCase{"RankPatternTooLarge", with(R"("rank_pattern":{"q_proj":512})"), "adapter-not-servable", ".r"},
        ConfigCase{"AlphaNull", with(R"("lora_alpha":null)"), "adapter-config-missing", ".lora_alpha"},
        ConfigCase{"AlphaNegative", with(R"("lora_alpha":-1)"), "adapter-config-type", ".lora_alpha"},
        ConfigCase{"DropoutOne", with(R"("lora_dropout":1)"), "adapter-config-type", ".lora_dropout"},
        ConfigCase{"NoTargets", with(R"("target_modules":null)"), "adapter-config-missing", ".target_modules"},
        ConfigCase{"EmptyTargets", with(R"("target_modules":[])"), "adapter-config-type", ".target_modules"},
        ConfigCase{"NumbersAsTargets", with(R"("target_modules":[1])"), "adapter-config-type", ".target_modules"},
        ConfigCase{"LookAhead", with(R"("target_modules":"(?!x)q_proj")"), "adapter-config-expression",
                   ".target_modules"},
        ConfigCase{"ModulesToSave", with(R"("modules_to_save":["lm_head"])"), "adapter-not-servable",
                   ".modules_to_save"},
        ConfigCase{"Dora", with(R"("use_dora":true)"), "adapter-not-servable", ".use_dora"},
        ConfigCase{"RsloraText", with(R"("use_rslora":"yes")"), "adapter-config-type", ".use_rslora"},
        ConfigCase{"RankPatternNegative", with(R"("rank_pattern":{"q":-1})"), "adapter-config-type", ".rank_pattern"}),
    [](const auto& each) { return std::string(each.param.says); });

TEST(AdapterConfig, TellsAllFaultsAtOnce) {
  EXPECT_EQ(read_config("{}").findings.size(), 4U);  // peft_type, r, lora_alpha, target_modules
}

TEST(AdapterConfig, ReadsExpressionsAsPeftMatchesThem) {
  const Targets targets =
      read_config(with(R"x("target_modules":".*\\.layers\\.(1|2)\\..*(q|v)_proj")x")).config.targets;
  EXPECT_TRUE(targets.contains("model.layers.1.self_attn.q_proj"));
  EXPECT_FALSE(targets.contains("model.layers.3.self_attn.q_proj"));
  EXPECT_FALSE(targets.contains("model.layers.1.self_attn.q_proj.more"));
  EXPECT_TRUE(read_config(with(R"("target_modules":"all-linear")")).config.targets.contains("anything"));
}

TEST(RankPatterns, TakeTheFirstKeyThatFitsTheEndOfThePath) {
  RankPattern pattern;
  ASSERT_TRUE(pattern.add(R"(layers\.[0-3]\.self_attn\.q_proj)", 4));
  ASSERT_TRUE(pattern.add("q_proj", 16));
  EXPECT_EQ(pattern.rank_of("model.layers.2.self_attn.q_proj"), 4);
  EXPECT_EQ(pattern.rank_of("model.layers.7.self_attn.q_proj"), 16);
  EXPECT_EQ(pattern.rank_of("model.layers.7.self_attn.seq_proj"), std::nullopt);
  EXPECT_FALSE(pattern.add("(?=x)", 1));
}

TEST(RankPatterns, TakeAnyNumberOfNamesAndSixtyFourExpressions) {
  RankPattern pattern;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(pattern.add("layers." + std::to_string(i), 4));
  for (int i = 0; i < 64; ++i) EXPECT_TRUE(pattern.add("layers.*" + std::to_string(i), 4));
  EXPECT_FALSE(pattern.add("layers.*more", 4));
}

TEST(Modules, KnowTheirLayers) {
  EXPECT_EQ(layer_of("model.layers.31.mlp.up_proj"), 31U);
  EXPECT_EQ(layer_of("transformer.h.2.attn"), 2U);
  EXPECT_EQ(layer_of("lm_head"), std::nullopt);
  EXPECT_EQ(layer_of("model.slayers.3.x"), std::nullopt);
}

TEST(WriteConfig, IsReadAgain) {
  Config config{
      .rank = 8, .alpha = 16, .dropout = 0.05, .targets = Targets::list({"q_proj", "v_proj"}), .rslora = true};
  config.base_model = "org/model";
  const std::string text = write_config(config);
  const ConfigRead read = read_config(text);
  EXPECT_THAT(read.findings, IsEmpty());
  EXPECT_EQ(read.config.rank, 8);
  EXPECT_EQ(read.config.alpha, 16);
  EXPECT_EQ(read.config.dropout, 0.05);
  EXPECT_TRUE(read.config.rslora);
  EXPECT_EQ(read.config.base_model, "org/model");
  EXPECT_EQ(read.config.targets.names(), config.targets.names());
  EXPECT_THAT(text, HasSubstr("\n  \"lora_alpha\": 16,\n"));
  EXPECT_THAT(text, HasSubstr("\n  \"revision\": null,\n"));
}

TEST(WriteConfig, AnExpressionStaysOne) {
  Config config{.rank = 4, .alpha = 0.5};
  config.target_text = ".*_proj";
  const ConfigRead read = read_config(write_config(config));
  EXPECT_THAT(read.findings, IsEmpty());
  EXPECT_EQ(read.config.target_text, ".*_proj");
  EXPECT_EQ(read.config.alpha, 0.5);
}

}  // namespace
}  // namespace stackgate::peft
