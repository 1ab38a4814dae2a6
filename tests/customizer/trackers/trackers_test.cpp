// Trackers over a database, and servers that answer as MLflow's and W&B's do.
#include "services/customizer/trackers/trackers.hpp"

#include <map>
#include <mutex>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "services/customizer/trackers/mlflow.hpp"
#include "services/customizer/trackers/wandb.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/sql/migrate.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::customizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// Sources: MLflow's REST API 2.0; the file stream of the client wandb.
class TrackersTest : public testing::Test {
 protected:
  void SetUp() override {
    log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2});
    auto opened = sql::Database::open("sqlite:" + (folder_ / "test.db"), "", {});
    ASSERT_TRUE(opened) << opened.error();
    database_ = *std::move(opened);
    ASSERT_TRUE(sql::migrate(*database_, customization_migrations()));
    records_.emplace(*database_);
    auto started = http::Server::start(
        {}, [this](const http::Request& request, http::Responder respond) { respond(answer(request)); });
    server_ = std::move(started.value());
    url_ = fmt::format("http://127.0.0.1:{}/", server_->port());
  }

  http::Response answer(const http::Request& request) {
    const std::scoped_lock lock(mutex_);
    const std::string path(request.path);
    calls_.push_back(path.substr(path.rfind('/', path.rfind('/') - 1) + 1));
    authorization_ = request.header("Authorization");
    if (status_ != 200) return http::text_answer(status_, R"({"error_code":"SOME","message":"no"})");
    json::Document document;
    const auto body = json::parse(request.body, document);
    const json::Value root = body ? *body : json::Value();
    if (path.ends_with("experiments/get-by-name"))
      return experiment_ ? http::text_answer(200, R"({"experiment":{"experiment_id":"7"}})")
                         : http::text_answer(404, R"({"error_code":"RESOURCE_DOES_NOT_EXIST","message":"no such"})");
    if (path.ends_with("experiments/create")) {
      experiment_ = true;
      return http::text_answer(200, R"({"experiment_id":"7"})");
    }
    if (path.ends_with("runs/search")) {
      filter_ = json::text(&root, {"filter"});
      return http::text_answer(200, found_.empty() ? "{}" : R"({"runs":[{"info":{"run_id":")" + found_ + R"("}}]})");
    }
    if (path.ends_with("runs/create"))
      for (const json::Value& each : json::items(&root, {"tags"}))
        tags_[std::string(json::text(&each, {"key"}))] = json::text(&each, {"value"});
    if (path.ends_with("runs/create")) return http::text_answer(200, R"({"run":{"info":{"run_id":"r1"},"data":{}}})");
    for (const json::Value& each : json::items(&root, {"metrics"}))
      metrics_[fmt::format("{}@{}", json::text(&each, {"key"}), json::integer(&each, {"step"}))] =
          json::value_at(&each, {"value"}).number();
    for (const json::Value& each : json::items(&root, {"params"}))
      params_[std::string(json::text(&each, {"key"}))] = json::text(&each, {"value"});
    if (path.ends_with("runs/update")) ended_ = json::text(&root, {"status"});
    if (path.ends_with("/graphql")) return http::text_answer(200, graphql_);
    if (path.ends_with("file_stream")) streams_.emplace_back(request.body);
    return http::text_answer(200, "{}");
  }

  std::string create(const std::string& name, std::vector<NewCustomization::Tracker> trackers) {
    const auto made = records_->create(
        {.name = name,
         .model = "m",
         .request =
             R"({"target":{"name":"acme/tiny@1"},"dataset":{"repository":"ada/d","revision":"0123"},"hyperparameters":{"lora_rank":8,"lora_alpha":16,"learning_rate":0.001},"output_model":"ada/x@1.0.0","description":"why","tags":["a","b"]})",
         .warnings = "[]",
         .trackers = std::move(trackers)});
    return made.value().id;
  }
  void report(const std::string& id, std::string_view members) {
    const std::string token = records_->find(id).value()->token;
    ASSERT_EQ(records_->report(id, token, fmt::format(R"({{"job_id":"{}",{}}})", id, members)).value().problem, "");
  }
  void step(const std::string& id, int number) {
    report(id, fmt::format(R"("event":"step","step":{0},"max_steps":9,"loss":{0}.5)", number));
  }
  void validation(const std::string& id, int number) {
    report(id, fmt::format(R"("event":"validation","step":{0},"val_loss":{0}.25)", number));
  }
  void finish(const std::string& id, State state) {
    const Stored from = records_->find(id).value().value();
    Customization to = from.job;
    to.state = state;
    to.ended_at = to.created_at + 60;
    ASSERT_TRUE(records_->store(from, to).value());
  }
  void trackers(Seconds give_up = 3600) {
    std::vector<std::unique_ptr<Tracker>> all;
    all.push_back(mlflow_tracker({.server = {.url = url_, .token = "word"}}, {}));
    all.push_back(wandb_tracker(wandb_, {}));
    trackers_.emplace(*records_, std::move(all), TrackersOptions{.between = 0, .first_pause = 0, .give_up = give_up});
  }
  void round() { (void)trackers_->round(); }
  std::vector<std::string> events(const std::string& id) {
    std::vector<std::string> out;
    const auto all = records_->last_events(id, false, 10).value();
    for (const Event& each : all) out.push_back(each.message + " " + each.detail);
    return out;
  }

  std::mutex mutex_;
  int status_ = 200;
  bool experiment_ = false;
  std::vector<std::string> calls_, streams_;
  std::map<std::string, double> metrics_;
  std::map<std::string, std::string> params_, tags_;
  std::string found_, filter_, ended_, authorization_, url_;
  std::string graphql_ =
      R"({"data":{"upsertBucket":{"bucket":{"name":"run 1","project":{"name":"p","entity":{"name":"team"}}}}}})";
  test::TempDir folder_;
  std::unique_ptr<sql::Database> database_;
  std::optional<Records> records_;
  WandbOptions wandb_{.api_key = "own", .project = "p", .encryption_key = "k"};
  std::unique_ptr<http::Server> server_;
  std::optional<Trackers> trackers_;
};

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
  report(
      id,
      R"("event":"step","step":1,"max_steps":9,"loss":1.5,"learning_rate":0.001,"tokens_per_second":900,"epoch":0.25)");
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
  EXPECT_THAT(calls_, ElementsAre("runs/update"));
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
