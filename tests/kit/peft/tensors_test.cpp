#include "services/kit/peft/tensors.hpp"

#include <gmock/gmock.h>

#include "services/kit/peft/compatibility.hpp"

namespace stackgate::peft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

safetensors::Tensor tensor(std::string name, std::vector<std::uint64_t> shape, std::string dtype = "F16") {
  return {.name = "base_model.model." + std::move(name), .dtype = std::move(dtype), .shape = std::move(shape)};
}
const std::string q = "model.layers.0.self_attn.q_proj";

safetensors::Header header(std::vector<safetensors::Tensor> tensors) {
  safetensors::Header out;
  out.tensors = std::move(tensors);
  return out;
}
Config config() {
  Config out;
  out.rank = 8;
  out.alpha = 16;
  out.has_alpha = out.has_targets = true;
  out.targets = Targets::list({"q_proj"});
  out.base_model = "meta-llama/Llama-3.1-8B";
  return out;
}

TEST(Tensors, OfAGoodAdapterGiveItsModules) {
  const Tensors out =
      check_tensors(header({tensor(q + ".lora_A.weight", {8, 64}), tensor(q + ".lora_B.weight", {32, 8})}), config());
  EXPECT_THAT(out.findings, IsEmpty());
  EXPECT_EQ(out.modules.at(q).rank, 8);
  EXPECT_EQ(out.modules.at(q).in, 64U);
  EXPECT_EQ(out.modules.at(q).out, 32U);
  EXPECT_EQ(out.parameters, 8U * 64 + 32 * 8);
}

struct TensorCase {
  const char* says;
  std::vector<safetensors::Tensor> tensors;
  const char* rule;
  const char* problem;
};
class WrongTensors : public testing::TestWithParam<TensorCase> {};
TEST_P(WrongTensors, AreTold) {
  const Tensors out = check_tensors(header(GetParam().tensors), config());
  ASSERT_THAT(out.findings, testing::Not(IsEmpty()));
  EXPECT_EQ(out.findings[0].rule, GetParam().rule);
  EXPECT_THAT(out.findings[0].problem, HasSubstr(GetParam().problem));
}
INSTANTIATE_TEST_SUITE_P(
    Table, WrongTensors,
    testing::Values(
        TensorCase{"None", {}, "adapter-weights-empty", "no tensors"},
        TensorCase{"Alone", {tensor(q + ".lora_A.weight", {8, 64})}, "adapter-weights-pair", "no lora_B"},
        TensorCase{"BAlone", {tensor(q + ".lora_B.weight", {64, 8})}, "adapter-weights-pair", "no lora_A"},
        TensorCase{"Rank",
                   {tensor(q + ".lora_A.weight", {4, 64}), tensor(q + ".lora_B.weight", {32, 4})},
                   "adapter-weights-rank",
                   "has rank 4, but adapter_config.json says 8"},
        TensorCase{"RanksDiffer",
                   {tensor(q + ".lora_A.weight", {8, 64}), tensor(q + ".lora_B.weight", {32, 4})},
                   "adapter-weights-rank",
                   "does not fit"},
        TensorCase{"OtherModule",
                   {tensor("model.layers.0.self_attn.k_proj.lora_A.weight", {8, 64}),
                    tensor("model.layers.0.self_attn.k_proj.lora_B.weight", {32, 8})},
                   "adapter-weights-target",
                   "target_modules does not name"},
        TensorCase{"Integers",
                   {tensor(q + ".lora_A.weight", {8, 64}, "I8"), tensor(q + ".lora_B.weight", {32, 8})},
                   "adapter-weights-dtype",
                   "I8"},
        TensorCase{
            "FourDimensions", {tensor(q + ".lora_A.weight", {8, 64, 1, 1})}, "adapter-weights-shape", "4 dimensions"},
        TensorCase{
            "AdapterName", {tensor(q + ".lora_A.default.weight", {8, 64})}, "adapter-weights-name", "adapter's name"},
        TensorCase{"Dora", {tensor(q + ".lora_magnitude_vector", {8})}, "adapter-weights-name", "DoRA"},
        TensorCase{"Bias", {tensor(q + ".bias", {8})}, "adapter-weights-name", "bias"},
        TensorCase{"Resized", {tensor("model.embed_tokens.weight", {9, 8})}, "adapter-weights-name", "was resized"},
        TensorCase{"ResizedHead", {tensor("lm_head.weight", {9, 8})}, "adapter-weights-name", "was resized"},
        TensorCase{"Stranger", {tensor("model.norm.weight", {8})}, "adapter-weights-name", "no name of the form"}),
    [](const auto& each) { return std::string(each.param.says); });

TEST(Tensors, FollowRankPatternAndEmbeddings) {
  Config c = config();
  ASSERT_TRUE(c.rank_pattern.add("embed_tokens", 4));
  c.targets = Targets::list({"q_proj", "embed_tokens"});
  const Tensors out =
      check_tensors(header({tensor(q + ".lora_A.weight", {8, 64}), tensor(q + ".lora_B.weight", {32, 8}),
                            tensor("model.embed_tokens.lora_embedding_A", {4, 1000}),
                            tensor("model.embed_tokens.lora_embedding_B", {64, 4})}),
                    c);
  EXPECT_THAT(out.findings, IsEmpty());
  EXPECT_TRUE(out.modules.at("model.embed_tokens").embedding);
}

TEST(Tensors, WarnOfUncommonModulesAndOfTargetsWithoutWeights) {
  Config c = config();
  c.targets = Targets::list({"c_attn", "v_proj"});
  const Tensors out = check_tensors(
      header({tensor("h.0.c_attn.lora_A.weight", {8, 64}), tensor("h.0.c_attn.lora_B.weight", {32, 8})}), c);
  EXPECT_FALSE(validate::has_errors(out.findings));
  ASSERT_EQ(out.findings.size(), 2U);
  EXPECT_EQ(out.findings[0].rule, "adapter-module-uncommon");
  EXPECT_EQ(out.findings[1].rule, "adapter-target-unused");
}

TEST(BaseModels, AreComparedAsPeopleWriteThem) {
  using enum SameModel;
  struct {
    const char *file, *metadata;
    SameModel is;
  } const table[] = {
      {"meta-llama/Llama-3.1-8B-Instruct", "meta/llama-3.1-8b-instruct", same},
      {"meta-llama/Llama-3.1-8B", "llama-3.1-8b", same},
      {"https://huggingface.co/meta-llama/Llama-3.1-8B/", "meta-llama/Llama-3.1-8B", same},
      {"/root/.cache/hub/models--meta-llama--Llama-3.1-8B/snapshots/abc", "meta-llama/Llama-3.1-8B", same},
      {"my_org/My_Model", "my-org/my-model", same},
      {"meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-70B", different},
      {"../models/base", "meta-llama/Llama-3.1-8B", unknown},
      {"", "meta-llama/Llama-3.1-8B", unknown},
      {"/models/base", "base", unknown}};
  for (const auto& row : table) EXPECT_EQ(compare_models(row.file, row.metadata), row.is) << row.file;
}

TEST(Claims, MustAgreeWithTheFile) {
  const Claimed good{
      .base_model = "meta/llama-3.1-8b", .rank = 8, .alpha = 16, .dropout = 0, .target_modules = {{"q_proj"}}};
  EXPECT_THAT(check_claims(good, config()), IsEmpty());
  const Claimed bad{.base_model = "mistral", .rank = 4, .alpha = 1, .dropout = 0.5, .target_modules = {{"v_proj"}}};
  std::vector<std::string> paths;
  for (const auto& finding : check_claims(bad, config())) paths.push_back(finding.path);
  EXPECT_THAT(paths,
              ElementsAre("metadata.lora_config.rank", "metadata.lora_config.alpha", "metadata.lora_config.dropout",
                          "metadata.lora_config.target_modules", "metadata.base_model"));
}

TEST(Claims, AreNotHeldAgainstWhatCouldNotBeRead) {
  const Claimed claimed{.base_model = "meta/llama", .rank = 4, .alpha = 1, .dropout = 0.5, .target_modules = {{"v"}}};
  for (const char* text :
       {"no json", "[]", R"({"r":"4","lora_alpha":[],"lora_dropout":"0.5","base_model_name_or_path":7})"})
    EXPECT_THAT(check_claims(claimed, read_config(text).config), IsEmpty()) << text;
  const Config whole = read_config(R"({"r":4,"base_model_name_or_path":"meta/llama"})").config;
  EXPECT_THAT(check_claims({.base_model = "", .rank = {}, .alpha = {}, .dropout = {}, .target_modules = {}}, whole),
              IsEmpty());
  EXPECT_EQ(check_claims(claimed, whole).size(), 1U) << "a dropout that is left out is 0";
}

TEST(Claims, SayWhichOfTheTwoBaseModelsIsAPath) {
  const auto one = [](const char* metadata, const char* file) {
    const auto findings =
        check_claims({.base_model = metadata, .rank = {}, .alpha = {}, .dropout = {}, .target_modules = {}},
                     read_config(std::string(R"({"base_model_name_or_path":")") + file + "\"}").config);
    return findings.size() == 1 ? findings[0].path + " " + findings[0].problem : std::string("none or several");
  };
  EXPECT_EQ(one("/models/x", "meta/llama"),
            "metadata.base_model is the path \"/models/x\", so it could not be compared "
            "with \"meta/llama\", on which the adapter was trained");
  EXPECT_EQ(
      one("meta/llama", "/models/x"),
      "adapter[adapter_config.json].base_model_name_or_path is the path \"/models/x\", so the base model could not "
      "be compared");
}

TEST(ModelShapes, CatchAnAdapterOfAnotherModel) {
  const auto shape = read_model_shape(
      R"({"num_hidden_layers":2,"hidden_size":64,"intermediate_size":128,"num_attention_heads":4,"num_key_value_heads":2})");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->query, 64U);
  EXPECT_EQ(shape->key_value, 32U);
  Tensors tensors;
  tensors.modules["model.layers.0.self_attn.q_proj"] = {.rank = 8, .in = 64, .out = 64};
  tensors.modules["model.layers.1.self_attn.v_proj"] = {.rank = 8, .in = 64, .out = 32};
  EXPECT_THAT(check_dimensions(tensors, *shape), IsEmpty());
  tensors.modules["model.layers.2.self_attn.v_proj"] = {.rank = 8, .in = 64, .out = 64};
  EXPECT_EQ(check_dimensions(tensors, *shape).size(), 2U);
  EXPECT_FALSE(read_model_shape("[]"));
}

}  // namespace
}  // namespace stackgate::peft
