#include "services/model/hyperparameters/hyperparameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::model {
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
  EXPECT_THAT(p.target_modules, ElementsAre(Module::query, Module::value));
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

std::string written(const Hyperparameters& parameters) {
  return json::object_text([&](json::Writer& w) { write_hyperparameters(w, parameters); });
}

TEST(Hyperparameters, read_as_they_are_written) {
  for (const char* text :
       {"{}",
        R"({"lora_rank":4,"lora_alpha":8.5,"lora_dropout":0.1,"use_rslora":true,"target_modules":["v_proj","q_proj"],
        "learning_rate":3e-7,"lr_scheduler":"linear","warmup_ratio":0,"weight_decay":0.1,"adam_beta1":0.5,
        "adam_beta2":0.25,"adam_epsilon":1e-9,"max_grad_norm":0,"num_epochs":3,"max_steps":70,"batch_size":4,
        "micro_batch_size":2,"max_seq_length":128,"seed":7,"sequence_packing_enabled":true,
        "gradient_checkpointing":true,"threads":2,"validation_split":0.25,"val_check_interval":5,
        "early_stopping_patience":2,"checkpoint_interval":10,"log_every_n_steps":3})"}) {
    const Hyperparameters first = read(text), second = read(written(first));
    EXPECT_EQ(canonical_text(second), canonical_text(first));
    EXPECT_EQ(written(second), written(first));
    EXPECT_EQ(named_values(second), named_values(first));
  }
}

TEST(Hyperparameters, keep_other_defaults_than_ours_where_nothing_is_written) {
  const Hyperparameters defaults = read(
      R"({"lr_scheduler":"constant","target_modules":["q_proj"],"lora_rank":32,"num_epochs":5,"use_rslora":true})");
  const auto changed = [&](std::string_view text) {
    Hyperparameters out = defaults;
    validate::Findings findings;
    validate::JsonReport report(findings, "", {"a", "b", "c"});
    json::Document document;
    read_hyperparameters({"hyperparameters", *report.parse("d", text, document, {})}, report, out);
    EXPECT_THAT(findings, IsEmpty());
    return out;
  };
  EXPECT_EQ(written(changed("{}")), written(defaults));
  EXPECT_THAT(changed(R"({"target_modules":["v_proj"]})").target_modules, ElementsAre(Module::value));
  EXPECT_THAT(changed(R"({"target_modules":"all-linear"})").target_modules, SizeIs(7));
  EXPECT_EQ(changed(R"({"lr_scheduler":"cosine"})").lr_scheduler, Scheduler::cosine);
}

TEST(Hyperparameters, of_a_part_have_its_path) {
  Hyperparameters out;
  validate::Findings findings;
  validate::JsonReport report(findings, "", {"a", "b", "c"});
  json::Document document;
  read_hyperparameters({"hyperparameters", *report.parse("d", R"({"lora_rnak":1,"lora_rank":0})", document, {})},
                       report, out);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].path, "hyperparameters.lora_rnak");
  EXPECT_EQ(findings[1].path, "hyperparameters.lora_rank");
}

TEST(Hyperparameters, that_are_numbers_have_ranges_which_the_reader_keeps) {
  for (const HyperparameterRange& range : hyperparameter_ranges()) {
    const auto faults_of = [&](double value) {
      return faults(json::object_text([&](json::Writer& w) {
        if (range.whole)
          w.member(range.name, static_cast<std::int64_t>(value));
        else
          w.member(range.name, value);
        if (range.name == "micro_batch_size") w.member("batch_size", 65'536);
      }));
    };
    EXPECT_THAT(faults_of(range.most), IsEmpty()) << range.name;
    EXPECT_THAT(faults_of(range.least - 1), SizeIs(1)) << range.name;
    Hyperparameters p;
    p.num_epochs = p.max_steps = p.micro_batch_size = p.max_seq_length = p.threads = p.val_check_interval = 7;
    EXPECT_TRUE(number_named(p, range.name)) << range.name;
  }
  EXPECT_FALSE(number_named({}, "num_epochs"));
  EXPECT_FALSE(number_named({}, "lr_scheduler"));
  EXPECT_EQ(number_named({}, "lora_alpha"), 16);
}

}  // namespace
}  // namespace stackgate::model
