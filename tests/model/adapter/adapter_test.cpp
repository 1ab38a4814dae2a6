#include "services/model/adapter/adapter.hpp"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/directory/lines.hpp"

namespace stackgate::model {
namespace {

using test::lines;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Config base_model() {
  return {.hidden = 8,
          .intermediate = 12,
          .layers = 2,
          .heads = 4,
          .key_value_heads = 2,
          .head_width = 6,
          .vocabulary = 30,
          .context = 16,
          .tied_head = true};
}

struct Pair {
  std::string module;
  std::uint64_t rank, in, out;
};
const Pair query{"model.layers.1.self_attn.q_proj", 4, 8, 24}, value{"model.layers.0.self_attn.v_proj", 4, 8, 12},
    down{"model.layers.0.mlp.down_proj", 4, 12, 8}, head{"lm_head", 4, 8, 30};

Pair with_rank(Pair pair, std::uint64_t rank) {
  pair.rank = rank;
  return pair;
}

safetensors::FileHeader weights(const std::vector<Pair>& pairs) {
  safetensors::FileHeader out{.header = {}, .data_at = 1000};
  std::uint64_t at = 0;
  const auto add = [&](const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    out.header.tensors.push_back({.name = "base_model.model." + name,
                                  .dtype = "F16",
                                  .shape = {rows, columns},
                                  .begin = at,
                                  .end = at + rows * columns * 2});
    at += rows * columns * 2;
  };
  for (const Pair& each : pairs) {
    add(each.module + ".lora_A.weight", each.rank, each.in);
    add(each.module + ".lora_B.weight", each.out, each.rank);
  }
  return out;
}

std::string config(std::string_view more = {}, std::string_view targets = R"("all-linear")") {
  return R"({"peft_type":"LORA","r":4,"lora_alpha":6,"base_model_name_or_path":"base","target_modules":)" +
         std::string(targets) + (more.empty() ? "" : ",") + std::string(more) + "}";
}

AdapterRead check(const std::vector<Pair>& pairs, const std::string& json, std::uint32_t max_rank = 64) {
  return check_adapter(base_model(), json, weights(pairs), {.max_rank = max_rank});
}

std::vector<double> scales(const AdapterRead& read) {
  std::vector<double> out;
  for (const AdapterModule& each : read.adapter.modules) out.push_back(each.scale);
  return out;
}

TEST(CheckAdapter, finds_the_matrices_of_each_module) {
  const AdapterRead read = check({query, value, head}, config("", R"(["q_proj","v_proj","lm_head"])"));
  ASSERT_THAT(lines(read.findings), IsEmpty());
  const Adapter& adapter = read.adapter;
  ASSERT_THAT(adapter.modules, SizeIs(3));
  EXPECT_EQ(adapter.modules[0].linear, Linear::value);
  EXPECT_EQ(adapter.modules[0].layer, 0U);
  EXPECT_EQ(adapter.modules[1].linear, Linear::query);
  EXPECT_EQ(adapter.modules[1].layer, 1U);
  EXPECT_EQ(adapter.modules[2].linear, Linear::head);
  EXPECT_EQ(adapter.modules[1].rank, 4U);
  EXPECT_EQ(adapter.modules[1].scale, 1.5);
  EXPECT_EQ(adapter.modules[1].a.offset, 1000U);
  EXPECT_EQ(adapter.modules[1].a.bytes, 4U * 8 * 2);
  EXPECT_EQ(adapter.modules[1].b.offset, 1000U + 4 * 8 * 2);
  EXPECT_EQ(adapter.modules[1].b.dtype, Dtype::f16);
  EXPECT_THAT(adapter.modules[1].b.shape, ElementsAre(24, 4));
  EXPECT_EQ(adapter.largest_rank, 4U);
  EXPECT_EQ(adapter.base_model, "base");
  EXPECT_FALSE(adapter.has_patterns);
}

TEST(CheckAdapter, takes_alpha_over_the_root_of_the_rank_for_rslora) {
  EXPECT_THAT(scales(check({query}, config(R"("use_rslora":true)"))), ElementsAre(3.0));
  EXPECT_THAT(scales(check({with_rank(query, 2)}, config(R"("use_rslora":true,"rank_pattern":{"q_proj":2})"))),
              ElementsAre(6 / std::sqrt(2.0)));
}

TEST(CheckAdapter, looks_ranks_and_alphas_up_apart_from_each_other) {
  const std::vector<Pair> pairs{with_rank(query, 2), value, down};  // in the order of layers: value, down, query
  const AdapterRead ranks = check(pairs, config(R"("rank_pattern":{"q_proj":2})"));
  EXPECT_THAT(lines(ranks.findings), IsEmpty());
  EXPECT_THAT(scales(ranks), ElementsAre(1.5, 1.5, 3));
  EXPECT_TRUE(ranks.adapter.has_patterns);
  const AdapterRead both =
      check(pairs, config(R"("rank_pattern":{"q_proj":2},"alpha_pattern":{"v_proj":8,"layers\\.1\\..*":5})"));
  EXPECT_THAT(lines(both.findings), IsEmpty());
  EXPECT_THAT(scales(both), ElementsAre(2, 1.5, 2.5));
}

TEST(CheckAdapter, takes_the_first_key_of_the_document_and_not_of_the_alphabet) {
  EXPECT_THAT(scales(check({query}, config(R"("alpha_pattern":{"q_proj":8,"1.self_attn.q_proj":4})"))), ElementsAre(2));
  EXPECT_THAT(scales(check({query}, config(R"("alpha_pattern":{"1.self_attn.q_proj":4,"q_proj":8})"))), ElementsAre(1));
  EXPECT_THAT(scales(check({query}, config(R"("alpha_pattern":{"_proj":8,"proj":8,"q":4})"))), ElementsAre(1.5));
}

TEST(CheckAdapter, takes_targets_as_a_list_an_expression_or_all_linear) {
  for (const std::string_view targets :
       {R"(["q_proj"])", R"(["self_attn.q_proj"])", R"(".*\\.(q|v)_proj")", R"("all-linear")"})
    EXPECT_THAT(lines(check({query}, config("", targets)).findings), IsEmpty()) << targets;
  for (const std::string_view targets : {R"(["v_proj","_proj"])", R"("q_proj")", R"("model.*layers\\.0.*")"})
    EXPECT_TRUE(validate::has_errors(check({query}, config("", targets)).findings)) << targets;
}

TEST(CheckAdapter, warns_and_changes_nothing) {
  const AdapterRead fan = check({query}, config(R"("fan_in_fan_out":true)"));
  EXPECT_THAT(lines(fan.findings),
              ElementsAre("adapter[adapter_config.json].fan_in_fan_out: is true, which means nothing for linear "
                          "modules: it is taken as false, as PEFT does"));
  EXPECT_FALSE(validate::has_errors(fan.findings));
  EXPECT_THAT(scales(fan), ElementsAre(1.5));
  for (const std::string_view init : {"\"pissa\"", "\"pissa_niter_16\"", "\"olora\"", "\"corda\""})
    EXPECT_THAT(check({query}, config("\"init_lora_weights\":" + std::string(init))).findings, SizeIs(1)) << init;
  for (const std::string_view init : {"true", "false", "\"gaussian\"", "null"})
    EXPECT_THAT(check({query}, config("\"init_lora_weights\":" + std::string(init))).findings, IsEmpty()) << init;
}

TEST(CheckAdapter, refuses_by_name_what_is_not_served) {
  for (const std::string_view field :
       {R"("bias":"all")", R"("modules_to_save":["lm_head"])", R"("use_dora":true)", R"("lora_bias":true)",
        R"("trainable_token_indices":[1])", R"("trainable_token_indices":{"embed_tokens":[1]})",
        R"("alora_invocation_tokens":[1,2])", R"("target_parameters":["mlp.experts"])",
        R"("layer_replication":[[0,1]])", R"("task_type":"SEQ_CLS")"}) {
    const AdapterRead read = check({query}, config(field));
    ASSERT_THAT(read.findings, SizeIs(1)) << field;
    const std::string name(field.substr(1, field.find('"', 1) - 1));
    EXPECT_EQ(read.findings[0].path, "adapter[adapter_config.json]." + name);
    EXPECT_TRUE(validate::has_errors(read.findings)) << field;
  }
}

TEST(CheckAdapter, ignores_what_says_nothing_and_what_it_does_not_know) {
  const AdapterRead read = check({query}, config(R"("task_type":"CAUSAL_LM","lora_bias":false,
      "trainable_token_indices":null,"target_parameters":[],"layer_replication":null,"alora_invocation_tokens":null,
      "exclude_modules":null,"layers_to_transform":null,"layers_pattern":null,"lora_dropout":0.1,
      "megatron_config":null,"megatron_core":"megatron.core","loftq_config":{},"inference_mode":true,"revision":null,
      "auto_mapping":null,"a_field_of_tomorrow":[1])"));
  EXPECT_THAT(lines(read.findings), IsEmpty());
}

TEST(CheckAdapter, holds_shapes_and_modules_against_the_base) {
  struct Case {
    Pair pair;
    std::string tensor, problem;
  };
  const std::vector<Case> cases{
      {{query.module, 4, 9, 24}, query.module + ".lora_A", "has the shape [4, 9] where the base wants [4, 8]"},
      {{query.module, 4, 8, 12}, query.module + ".lora_B", "has the shape [12, 4] where the base wants [24, 4]"},
      {{"model.layers.2.self_attn.q_proj", 4, 8, 24},
       "model.layers.2.self_attn.q_proj.lora_A",
       "belongs to layer 2; the base has 2 layers"},
      {{"model.embed_tokens", 4, 30, 8},
       "model.embed_tokens.lora_A",
       "changes the embedding: it is looked up, not multiplied"},
      {{"model.layers.0.mlp.gate_up_proj", 4, 8, 24},
       "model.layers.0.mlp.gate_up_proj.lora_A",
       "changes \"model.layers.0.mlp.gate_up_proj\", which is no linear module of a llama model"},
      {{"layers.0.mlp.up_proj", 4, 8, 12},
       "layers.0.mlp.up_proj.lora_A",
       "changes \"layers.0.mlp.up_proj\", which is no linear module of a llama model"},
      {{"model.layers.0.input_layernorm", 4, 8, 8},
       "model.layers.0.input_layernorm.lora_A",
       "changes \"model.layers.0.input_layernorm\", which is no linear module of a llama model"},
  };
  for (const Case& each : cases) {
    const AdapterRead read = check({each.pair}, config("", R"(".*")"));
    EXPECT_THAT(lines(read.findings), Contains("adapter[adapter_model.safetensors][base_model.model." + each.tensor +
                                               ".weight]: " + each.problem));
    EXPECT_TRUE(validate::has_errors(read.findings));
  }
}

TEST(CheckAdapter, needs_configuration_and_tensors_to_agree) {
  EXPECT_THAT(lines(check({with_rank(query, 8)}, config()).findings),
              Contains(HasSubstr("has rank 8, but adapter_config.json says 4")));
  EXPECT_THAT(lines(check({query}, config(R"("exclude_modules":["q_proj"])")).findings),
              Contains(HasSubstr("which exclude_modules leaves out")));
  struct Case {
    std::string_view layers, targets;
    bool agrees;
  };
  for (const Case& each :
       {Case{"[0]", R"(["q_proj"])", false}, Case{"[0,1]", R"(["q_proj"])", true}, Case{"1", R"(["q_proj"])", true},
        Case{"[]", R"(["q_proj"])", true}, Case{"[0]", R"(["model.layers.1.self_attn.q_proj"])", true},
        Case{"[0]", R"(".*q_proj")", true}}) {
    const AdapterRead read =
        check({query}, config("\"layers_to_transform\":" + std::string(each.layers), each.targets));
    EXPECT_EQ(!validate::has_errors(read.findings), each.agrees) << each.layers << each.targets;
  }
  EXPECT_THAT(lines(check({head}, config()).findings), Contains(HasSubstr("which target_modules leaves out")));
  EXPECT_THAT(lines(check({head}, config("", R"(["lm_head"])")).findings), IsEmpty());
}

TEST(CheckAdapter, names_both_ranks_when_one_is_too_large) {
  EXPECT_THAT(lines(check({query}, config(), 2).findings),
              Contains(HasSubstr("leads to the rank 4; servers take at most 2")));
  EXPECT_THAT(lines(check({query}, config(), 4).findings), IsEmpty());
}

TEST(CheckAdapter, refuses_a_scale_that_cannot_be_known) {
  for (const std::string_view pattern : {R"json({"(?=x)":1})json", R"({"q_proj":0})", R"({"q_proj":"8"})", R"([8])"}) {
    const AdapterRead read = check({query}, config("\"alpha_pattern\":" + std::string(pattern)));
    EXPECT_THAT(lines(read.findings), ElementsAre(HasSubstr("adapter[adapter_config.json].alpha_pattern: ")))
        << pattern;
    EXPECT_TRUE(validate::has_errors(read.findings)) << pattern;
  }
}

TEST(CheckAdapter, bounds_what_a_stranger_may_have_compiled) {
  std::string names, expressions;
  for (int i = 0; i < 65; ++i) {
    names += (i == 0 ? "" : ",") + fmt::format(R"("model.layers.{}.self_attn.q_proj":6)", i);
    expressions += (i == 0 ? "" : ",") + fmt::format(R"("layers\\.{}\\..*":6)", i);
  }
  EXPECT_THAT(lines(check({query}, config("\"alpha_pattern\":{" + names + "}")).findings), IsEmpty());
  EXPECT_THAT(lines(check({query}, config("\"alpha_pattern\":{" + expressions + "}")).findings),
              ElementsAre("adapter[adapter_config.json].alpha_pattern: has more than 64 expressions"));
}

TEST(CheckAdapter, tells_all_faults_at_once) {
  EXPECT_THAT(check({{query.module, 4, 9, 25}, {"model.layers.9.mlp.up_proj", 4, 8, 12}},
                    config(R"("lora_bias":true,"use_dora":true)"))
                  .findings,
              SizeIs(5));
  EXPECT_TRUE(validate::has_errors(check({}, config()).findings));
  EXPECT_TRUE(validate::has_errors(check({query}, "{").findings));
}

}  // namespace
}  // namespace stackgate::model
