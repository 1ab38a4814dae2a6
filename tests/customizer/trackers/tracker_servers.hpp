// Trackers over a database, and servers that answer as MLflow's and W&B's do.
// Sources: MLflow's REST API 2.0; the file stream of the client wandb.
#pragma once
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/customizer/trackers/mlflow.hpp"
#include "services/customizer/trackers/trackers.hpp"
#include "services/customizer/trackers/wandb.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/sql/migrate.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::customizer {

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
    const std::string call = path.substr(path.rfind('/', path.rfind('/') - 1) + 1);
    calls_.push_back(request.method == "PUT" ? "PUT " + path.substr(path.find("/artifacts/") + 11) : call);
    authorization_ = request.header("Authorization");
    if (request.method == "PUT" && files_status_ != 200) return http::text_answer(files_status_, files_answer_);
    if (status_ != 200) return http::text_answer(status_, R"({"error_code":"SOME","message":"no"})");
    if (request.method == "PUT") files_[calls_.back().substr(4)] = request.body;
    if (path.ends_with("runs/get"))
      return http::text_answer(200, R"({"run":{"info":{"artifact_uri":")" + artifact_uri_ + R"("}}})");
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
  /// With all that a step may have.
  void first_step(const std::string& id) {
    report(
        id,
        R"("event":"step","step":1,"max_steps":9,"loss":1.5,"learning_rate":0.001,"tokens_per_second":900,"epoch":0.25)");
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
  std::map<std::string, std::string> params_, tags_, files_;
  int files_status_ = 200;
  std::string files_answer_, artifact_uri_ = "mlflow-artifacts:/7/r1/artifacts";
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

}  // namespace stackgate::customizer
