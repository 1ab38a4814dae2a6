#include "services/customizer/api/show.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace stackgate::customizer {
namespace {

using Tree = nlohmann::json;

Customization job() {
  CustomizationRequest request{.name = "bot", .description = "d"};
  request.target = {.name = "meta/llama@1.0", .base_model = "meta/llama", .path = "l", .precision = "bf16"};
  request.config = {.name = "meta/llama@v1",
                    .target = "meta/llama@1.0",
                    .option = {.num_nodes = 2, .num_gpus = 4},
                    .max_seq_length = 128};
  request.dataset = {.repository = "ada/t", .revision = "3f78"};
  request.hyperparameters.num_epochs = 3;
  request.hyperparameters.max_seq_length = 128;
  request.output_model = "default/bot";
  request.tags = {"a"};
  Customization out{.id = "cust-1", .name = "bot", .request = to_json(request), .state = State::running};
  out.stage(Stage::download) = {.state = State::completed, .attempts = 1, .started_at = 110, .ended_at = 120};
  out.stage(Stage::training) = {.state = State::running, .attempts = 2, .message = "m", .created_at = 130};
  out.progress = progress_json({.step = 5, .max_steps = 10, .epoch = 1.5, .train_loss = 2.5, .percent = 50});
  out.created_at = 100;
  out.changed_at = 140;
  return out;
}

Tree shown(const Customization& job, const ShownWith& with = {}) {
  return Tree::parse(customization_json(job, 160, with));
}

TEST(Show, is_NeMos_record) {
  const Tree found = shown(job());
  EXPECT_EQ(found["id"], "cust-1");
  EXPECT_EQ(found["status"], "running");
  EXPECT_EQ(found["config"], "meta/llama@v1");
  EXPECT_EQ(found["config_snapshot"]["base_model"], "meta/llama");
  EXPECT_EQ(found["config_snapshot"]["training_option"]["data_parallel_size"], 8);
  EXPECT_EQ(found["dataset"], "ada/t@3f78");
  EXPECT_EQ(found["hyperparameters"]["epochs"], 3);
  EXPECT_EQ(found["hyperparameters"]["num_epochs"], 3);
  EXPECT_EQ(found["hyperparameters"]["lora"]["adapter_dim"], 8);
  EXPECT_EQ(found["output_model"], "default/bot@1.19700101.100");
  EXPECT_EQ(found["created_at"], "1970-01-01T00:01:40Z");
  EXPECT_TRUE(found["ended_at"].is_null());
  EXPECT_EQ(found["warnings"], Tree::array());
  const Tree& details = found["status_details"];
  EXPECT_EQ(details["elapsed_time"], 60);
  EXPECT_EQ(details["percentage_done"], 50);
  EXPECT_EQ(details["steps_completed"], 5);
  EXPECT_EQ(details["epochs_completed"], 1);
  EXPECT_EQ(details["train_loss"], 2.5);
  EXPECT_TRUE(details["val_loss"].is_null());
}

TEST(Show, has_each_stage) {
  const Tree stages = shown(job())["status_details"]["stages"];
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0]["name"], "model-and-dataset-download");
  EXPECT_EQ(stages[0]["percentage_done"], 100);
  EXPECT_EQ(stages[1]["status"], "running");
  EXPECT_EQ(stages[1]["percentage_done"], 50);
  EXPECT_EQ(stages[1]["attempts"], 2);
  EXPECT_EQ(stages[2]["status"], "created");
}

TEST(Show, is_not_done_where_the_upload_has_failed) {
  Customization failed = job();
  failed.state = failed.stage(Stage::upload).state = State::failed;
  failed.stage(Stage::training).state = State::completed;
  failed.progress = progress_json({.step = 10, .max_steps = 10, .percent = 100});
  failed.message = "the adapter is trained, its upload has failed: 503";
  const Tree found = shown(failed);
  EXPECT_EQ(found["status_details"]["percentage_done"], 99);
  EXPECT_EQ(found["status_details"]["stages"][1]["percentage_done"], 100);
  EXPECT_EQ(found["message"], failed.message);
  failed.state = State::completed;
  EXPECT_EQ(shown(failed)["status_details"]["percentage_done"], 100);
}

TEST(Show, has_curves_and_a_log_where_they_are_given) {
  const MetricPoint points[] = {{.step = 1, .train_loss = 3, .at = 131}, {.step = 1, .val_loss = 2, .at = 132}};
  const StatusLog logs[] = {{.at = 130, .message = "TrainingJobCreated"},
                            {.at = 131, .message = "TrainingJobRunning", .detail = "d"}};
  const Tree details = shown(job(), {points, logs})["status_details"];
  EXPECT_EQ(details["metrics"]["keys"], Tree({"train_loss", "val_loss"}));
  EXPECT_EQ(details["metrics"]["metrics"]["train_loss"],
            Tree::parse(R"([{"step":1,"value":3,"timestamp":"1970-01-01T00:02:11Z"}])"));
  EXPECT_EQ(details["metrics"]["metrics"]["val_loss"].size(), 1U);
  EXPECT_EQ(details["status_logs"][1]["detail"], "d");
  EXPECT_FALSE(details["status_logs"][0].contains("detail"));
}

TEST(Show, of_a_dry_run_has_no_id) {
  Customization dry = job();
  dry.id.clear();
  EXPECT_FALSE(shown(dry).contains("id"));
}

TEST(Show, has_the_status_alone) {
  const Tree found = Tree::parse(status_json(job(), 160));
  EXPECT_EQ(found["status"], "running");
  EXPECT_EQ(found["status_details"]["max_steps"], 10);
}

TEST(Warnings, are_stored_without_the_errors) {
  const validate::Findings findings{
      {.rule = "r", .severity = validate::Severity::warning, .path = "project", .problem = "p", .fix = "f"},
      {.rule = "e", .path = "name", .problem = "p", .fix = "f"}};
  const Tree found = Tree::parse(warnings_json(findings));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]["loc"], Tree({"body", "project"}));
  EXPECT_EQ(found[0]["type"], "r");
}

}  // namespace
}  // namespace stackgate::customizer
