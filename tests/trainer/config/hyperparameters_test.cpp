#include "services/trainer/config/hyperparameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Hyperparameters read(std::string_view json) {
  auto [parameters, findings] = read_hyperparameters(json, "c.json");
  EXPECT_THAT(findings, IsEmpty()) << (findings.empty() ? "" : to_line(findings.front()));
  return parameters;
}

std::vector<std::string> faults(std::string_view json) {
  std::vector<std::string> out;
  for (const auto& each : read_hyperparameters(json, "c.json").findings)
    out.push_back(each.path + " " + each.problem + "; " + each.fix);
  return out;
}

TEST(Hyperparameters, have_the_documented_defaults) {
  const Hyperparameters p = read("{}");
  EXPECT_EQ(p.lora_rank, 8U);
  EXPECT_EQ(p.lora_alpha, 16);
  EXPECT_EQ(p.learning_rate, 1e-4);
  EXPECT_EQ(p.lr_scheduler, Scheduler::cosine);
  EXPECT_EQ(p.batch_size, 8U);
  EXPECT_EQ(p.seed, 42U);
  EXPECT_FALSE(p.num_epochs);
  EXPECT_THAT(p.target_modules, SizeIs(7));
}

TEST(Hyperparameters, are_read) {
  const Hyperparameters p = read(
      R"({"lora_rank":4,"lora_alpha":8.5,"lora_dropout":0.1,"use_rslora":true,"target_modules":["v_proj","self_attn.q_proj"],)"
      R"("lr_scheduler":"linear","max_steps":7,"micro_batch_size":null,"seed":9007199254740993,"finetuning_type":"lora"})");
  EXPECT_EQ(p.lora_rank, 4U);
  EXPECT_EQ(lora_scale(p), 4.25);
  EXPECT_THAT(p.target_modules, ElementsAre(model::Module::query, model::Module::value));
  EXPECT_EQ(p.lr_scheduler, Scheduler::linear);
  EXPECT_EQ(p.max_steps, 7U);
  EXPECT_FALSE(p.micro_batch_size);
  EXPECT_EQ(p.seed, 9007199254740993U);
  EXPECT_THAT(read(R"({"target_modules":"all-linear"})").target_modules, SizeIs(7));
}

TEST(Hyperparameters, scale_by_rank_or_by_its_root) {
  EXPECT_EQ(lora_scale(read(R"({"lora_rank":16,"lora_alpha":8})")), 0.5);
  EXPECT_EQ(lora_scale(read(R"({"lora_rank":16,"lora_alpha":8,"use_rslora":true})")), 2);
}

TEST(Hyperparameters, all_faults_are_told_at_once) {
  EXPECT_THAT(
      faults(R"({"lora_rnak":4,"batch_size":0,"learning_rate":0,"target_modules":["q_prj"],"lr_scheduler":"step",)"
             R"("training_type":"dpo","seed":-1})"),
      ElementsAre(HasSubstr("c.json: lora_rnak is no hyperparameter; did you mean \"lora_rank\"?"),
                  HasSubstr("batch_size must be a whole number from 1"), HasSubstr("seed must be"),
                  HasSubstr("the schedule \"step\" is not served"),
                  HasSubstr("target_modules[0] the module \"q_prj\" is not served"),
                  HasSubstr("the training \"dpo\" is not served"),
                  HasSubstr("learning_rate must be a number above 0")));
}

TEST(Hyperparameters, what_is_wrong) {
  for (const std::string_view json :
       {"", "[]", "{", R"({"lora_alpha":0})", R"({"lora_alpha":-1})", R"({"lora_rank":257})", R"({"lora_dropout":1})",
        R"({"target_modules":[]})", R"({"target_modules":"q_proj"})", R"({"target_modules":[1]})",
        R"({"batch_size":2,"micro_batch_size":3})", R"({"num_epochs":1.5})", R"({"max_seq_length":1})",
        R"({"lora_rank":8,"lora_rank":8})", R"({"adam_beta1":1})", R"({"seed":1.0})", R"({"lr_scheduler":3})",
        R"({"validation_split":0.6})"})
    EXPECT_THAT(faults(json), SizeIs(1)) << json;
}

TEST(Hyperparameters, equal_runs_have_equal_texts) {
  EXPECT_EQ(canonical_text(read("{}")), canonical_text(read(R"({"lora_rank":8,"threads":3,"log_every_n_steps":5})")))
      << "threads are looked at apart";
  for (const std::string_view json :
       {R"({"lora_rank":9})", R"({"seed":1})", R"({"max_steps":3})", R"({"target_modules":["q_proj"]})",
        R"({"weight_decay":0.02})", R"({"batch_size":9})", R"({"gradient_checkpointing":true})",
        R"({"validation_split":0.1})"})
    EXPECT_NE(canonical_text(read("{}")), canonical_text(read(json))) << json;
}

}  // namespace
}  // namespace stackgate::trainer
