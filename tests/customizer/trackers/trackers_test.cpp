#include "services/customizer/trackers/trackers.hpp"

#include <gmock/gmock.h>

#include "services/kit/base/base64.hpp"
#include "tests/customizer/trackers/tracker_servers.hpp"

namespace stackgate::customizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST_F(TrackersTest, mlflow_has_parameters_losses_and_the_end) {
  const std::string id = create("a", {{"mlflow", ""}});
  trackers();
  step(id, 1);
  step(id, 2);
  round();
  EXPECT_THAT(calls_, ElementsAre("experiments/get-by-name", "experiments/create", "runs/search", "runs/create",
                                  "runs/log-batch", "runs/log-batch"));
  EXPECT_EQ(authorization_, "Bearer word");
  EXPECT_EQ(filter_, fmt::format("tags.customization = '{}'", id));
  EXPECT_EQ(params_["lora_rank"], "8");
  EXPECT_EQ(params_["dataset_commit"], "0123");
  EXPECT_THAT(metrics_, ElementsAre(Pair("train_loss@1", 1.5), Pair("train_loss@2", 2.5)));
  calls_.clear();
  round();
  EXPECT_THAT(calls_, IsEmpty()) << "nothing is new";
  validation(id, 2);
  step(id, 3);
  finish(id, State::completed);
  round();
  EXPECT_EQ(metrics_["val_loss@2"], 2.25) << "behind its training loss";
  EXPECT_EQ(metrics_["train_loss@3"], 3.5);
  EXPECT_EQ(ended_, "FINISHED");
  calls_.clear();
  round();
  EXPECT_THAT(calls_, IsEmpty()) << "it is over";
}

TEST_F(TrackersTest, mlflow_has_rates_and_tags) {
  const std::string id = create("a", {{"mlflow", ""}});
  trackers();
  first_step(id);
  validation(id, 1);
  step(id, 2);
  round();
  EXPECT_THAT(metrics_,
              ElementsAre(Pair("epoch@1", 0.25), Pair("learning_rate@1", 0.001), Pair("tokens_per_second@1", 900),
                          Pair("train_loss@1", 1.5), Pair("train_loss@2", 2.5), Pair("val_loss@1", 1.25)))
      << "and nothing of what was not reported";
  EXPECT_THAT(tags_,
              ElementsAre(Pair("customization", id), Pair("customization_name", "a"), Pair("dataset", "ada/d"),
                          Pair("dataset_commit", "0123"), Pair("mlflow.note.content", "why"),
                          Pair("mlflow.source.name", "stackgate-customizer"), Pair("mlflow.source.type", "JOB"),
                          Pair("model", "acme/tiny@1"), Pair("output_model", "ada/x@1.0.0"), Pair("tags", "a,b")));
}

TEST_F(TrackersTest, mlflow_has_one_run_of_each_whatever_answer_was_lost) {
  create("a", {{"mlflow", ""}});
  experiment_ = true;
  found_ = "r0";
  trackers();
  round();
  EXPECT_THAT(calls_, ElementsAre("experiments/get-by-name", "runs/search", "runs/log-batch"));
}

TEST_F(TrackersTest, who_is_away_is_sent_all_of_it_later) {
  const std::string id = create("a", {{"mlflow", ""}}), other = create("b", {{"mlflow", ""}});
  trackers();
  step(id, 1);
  status_ = 503;
  round();
  EXPECT_EQ(calls_.size(), 1U) << "and is not asked for each";
  step(id, 2);
  finish(id, State::failed);
  status_ = 200;
  round();
  EXPECT_THAT(metrics_, ElementsAre(Pair("train_loss@1", 1.5), Pair("train_loss@2", 2.5)));
  EXPECT_EQ(ended_, "FAILED");
  EXPECT_EQ(events(id).size(), 2U) << "created and failed";
  EXPECT_EQ(events(other).size(), 1U);
}

TEST_F(TrackersTest, who_stays_away_or_refuses_is_given_up_with_an_event_and_a_warning) {
  const std::string id = create("a", {{"mlflow", ""}});
  trackers(0);
  status_ = 503;
  round();
  EXPECT_THAT(events(id).back(), HasSubstr("TrackerGaveUp MLflow: HTTP 503"));
  const std::string warnings = records_->find(id).value()->job.warnings;
  EXPECT_THAT(warnings,
              HasSubstr(R"([{"loc":["body","integrations"],"msg":"is not recorded by MLflow to its end: HTTP 503)"));
  ASSERT_TRUE(records_->add_warning(id, {"again", ""}, R"({"n":2})"));
  EXPECT_EQ(records_->find(id).value()->job.warnings, warnings.substr(0, warnings.size() - 1) + R"(,{"n":2}])");
  const std::string refused = create("b", {{"mlflow", ""}});
  trackers();
  status_ = 403;
  round();
  EXPECT_THAT(events(refused).back(), HasSubstr("TrackerGaveUp MLflow: HTTP 403"));
  calls_.clear();
  round();
  EXPECT_THAT(calls_, IsEmpty());
}

TEST_F(TrackersTest, what_is_tried_again_goes_on_in_its_run) {
  const std::string id = create("a", {{"mlflow", ""}});
  trackers();
  step(id, 1);
  finish(id, State::failed);
  round();
  EXPECT_EQ(ended_, "FAILED");
  ASSERT_TRUE(records_->resume_trackings(id));
  const Stored from = records_->find(id).value().value();
  Customization to = from.job;
  to.state = State::completed;
  ASSERT_TRUE(records_->store(from, to).value());
  calls_.clear();
  round();
  EXPECT_THAT(calls_, ElementsAre("runs/log-batch", "runs/get", "PUT 7/r1/artifacts/config.json",
                                  "PUT 7/r1/artifacts/customization.json", "PUT 7/r1/artifacts/metrics.csv",
                                  "PUT 7/r1/artifacts/customization.log", "runs/update"))
      << "with its files as they are now";
  EXPECT_EQ(ended_, "FINISHED");
}

TEST_F(TrackersTest, wandb_has_a_line_for_each_step_when_it_is_whole) {
  wandb_.url = url_;
  const std::string id = create("a", {{"wandb", seal_api_key(wandb_, "theirs", "a")}});
  trackers();
  step(id, 1);
  report(id, R"("event":"step","step":2,"max_steps":9,"loss":2.5,"learning_rate":0.001)");
  round();
  EXPECT_EQ(authorization_, "Basic " + base64::encode("api:theirs"));
  EXPECT_EQ(calls_.back(), "run%201/file_stream");
  ASSERT_EQ(streams_.size(), 1U);
  EXPECT_THAT(streams_[0], HasSubstr(R"("offset":0)"));
  EXPECT_THAT(streams_[0], HasSubstr(R"({\"_step\":1,)"));
  EXPECT_THAT(streams_[0], testing::Not(HasSubstr(R"(\"_step\":2)"))) << "its validation may come";
  validation(id, 2);
  finish(id, State::completed);
  round();
  ASSERT_EQ(streams_.size(), 3U);
  EXPECT_THAT(streams_[1], HasSubstr(R"("offset":1)"));
  EXPECT_THAT(streams_[1], HasSubstr(R"(\"train_loss\":2.5,\"val_loss\":2.25,\"learning_rate\":0.001)"));
  EXPECT_THAT(streams_[2], HasSubstr(R"("complete":true,"exitcode":0)"));
  const auto left = database_->run("SELECT count(*) FROM customization_tracking WHERE secret <> ''").value();
  EXPECT_EQ(left.rows.front().integer(0), 0) << "the key is erased";
}

TEST_F(TrackersTest, wandb_takes_the_services_own_key_and_says_what_is_wrong) {
  wandb_.url = url_;
  const std::string id = create("a", {{"wandb", ""}});
  graphql_ = R"({"errors":[{"message":"permission denied"}]})";
  trackers();
  round();
  EXPECT_EQ(authorization_, "Basic " + base64::encode("api:own"));
  EXPECT_THAT(events(id).back(), HasSubstr("TrackerGaveUp Weights & Biases: permission denied"));
  const std::string other = create("b", {{"wandb", seal_api_key({.encryption_key = "another"}, "theirs", "b")}});
  round();
  EXPECT_THAT(events(other).back(), HasSubstr("was encrypted with another key"));
}

TEST(Wandb, answers_without_a_run_are_none) {
  for (const char* body : {"", "{}", R"({"data":{"upsertBucket":{"bucket":{"name":"x"}}}})"})
    EXPECT_FALSE(read_upserted(body)) << body;
}

}  // namespace
}  // namespace stackgate::customizer
