#include "services/kit/mlflow/run.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/http/server.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::mlflow {
namespace {

using namespace std::chrono_literals;
using Record = Run;  // testing::Test has a Run of its own

/// A tracking server with one experiment that keeps what it is told, and does what a test wants instead.
class MlflowTest : public testing::Test {
 protected:
  using Instead = std::function<std::optional<http::Response>(const http::Request&)>;

  MlflowTest() {
    log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2});
    auto started = http::Server::start(
        {}, [this](const http::Request& request, http::Responder respond) { respond(answer(request)); });
    server_ = std::move(started.value());
    url_ = "http://127.0.0.1:" + std::to_string(server_->port());
  }

  http::Response answer(const http::Request& request) {
    const std::lock_guard lock(mutex_);
    const std::string path(request.path);
    calls_.push_back(path.substr(path.rfind("mlflow/") + 7));
    authorization_ = request.header("Authorization");
    if (instead_)
      if (auto other = instead_(request)) return std::move(*other);
    json::Document document;
    const auto body = json::parse(request.body, document);
    if (calls_.back() == "experiments/get-by-name")
      return experiment_ ? json_answer(200, R"({"experiment":{"experiment_id":"7"}})")
                         : json_answer(404, R"({"error_code":"RESOURCE_DOES_NOT_EXIST","message":"no such"})");
    if (!body) return json_answer(400, R"({"error_code":"INVALID_PARAMETER_VALUE","message":"no JSON"})");
    if (calls_.back() == "experiments/create") {
      experiment_ = true;
      return json_answer(200, R"({"experiment_id":"7"})");
    }
    if (calls_.back() == "runs/create") return json_answer(200, R"({"run":{"info":{"run_id":"r1"},"data":{}}})");
    if (const json::Value* metrics = body->find("metrics")) {
      largest_ = std::max(largest_, metrics->items().size());
      for (const json::Value& each : metrics->items()) steps_.push_back(each.find("step")->integer());
    }
    if (const json::Value* params = body->find("params"))
      for (const json::Value& each : params->items())
        params_[std::string(each.find("key")->string())] = each.find("value")->string();
    if (const json::Value* status = body->find("status")) status_ = status->string();
    return json_answer(200, "{}");
  }
  static http::Response json_answer(int status, std::string body) { return http::text_answer(status, std::move(body)); }

  Record start(NewRun run = {}, Pace pace = quick) {
    return Record(
        {.url = url_ + "/", .token = "word"}, std::move(run), [this](const std::string& id) { known_ = id; }, pace);
  }
  static std::vector<Metric> metrics(std::uint64_t from, std::uint64_t count) {
    std::vector<Metric> out;
    for (std::uint64_t i = from; i < from + count; ++i)
      out.push_back({"train_loss", 1.0 / static_cast<double>(i), 5, i});
    return out;
  }
  static constexpr Pace quick{.call = 500ms, .between = 1ms, .first_pause = 5ms, .longest_pause = 20ms, .end = 5s};

  std::mutex mutex_;
  Instead instead_;
  bool experiment_ = false;
  std::vector<std::string> calls_;
  std::vector<std::int64_t> steps_;
  std::map<std::string, std::string> params_;
  std::string status_, authorization_, url_, known_;
  std::size_t largest_ = 0;
  std::unique_ptr<http::Server> server_;
};

TEST_F(MlflowTest, a_run_is_recorded_in_order) {
  {
    Record run = start({.experiment = "tuning", .params = {{"lora_rank", "8"}}});
    run.log(metrics(1, 2500));
    const Counts counts = run.end(Status::finished);
    EXPECT_EQ(counts.sent, 2500U);
    EXPECT_EQ(counts.lost, 0U);
  }
  EXPECT_EQ(known_, "r1");
  EXPECT_EQ(authorization_, "Bearer word");
  EXPECT_EQ(status_, "FINISHED");
  EXPECT_EQ(params_["lora_rank"], "8");
  EXPECT_EQ(largest_, 1000U);
  ASSERT_EQ(steps_.size(), 2500U);
  for (std::size_t i = 0; i < steps_.size(); ++i) ASSERT_EQ(steps_[i], static_cast<std::int64_t>(i + 1));
  EXPECT_EQ(calls_,
            (std::vector<std::string>{"experiments/get-by-name", "experiments/create", "runs/create", "runs/log-batch",
                                      "runs/log-batch", "runs/log-batch", "runs/log-batch", "runs/update"}));
}

TEST_F(MlflowTest, a_record_is_gone_on_with_and_made_anew_where_it_is_gone) {
  EXPECT_EQ(start({.id = "r0"}).end(Status::finished).lost, 0U);
  EXPECT_EQ(known_, "r0");
  EXPECT_EQ(calls_.front(), "runs/update");
  calls_.clear();
  bool once = false;
  instead_ = [&](const http::Request& request) -> std::optional<http::Response> {
    if (request.path.ends_with("runs/update") && !std::exchange(once, true))
      return json_answer(404, R"({"error_code":"RESOURCE_DOES_NOT_EXIST","message":"gone"})");
    return std::nullopt;
  };
  start({.id = "r0"}).end(Status::finished);
  EXPECT_EQ(known_, "r1");
}

TEST_F(MlflowTest, what_fails_for_a_while_is_sent_again) {
  instead_ = [&, fail = 0](const http::Request&) mutable -> std::optional<http::Response> {
    constexpr std::array<int, 3> statuses{500, 429, 503};
    if (fail < 9 && ++fail % 3 != 0) return json_answer(statuses[static_cast<std::size_t>(fail) % 3], "<html>");
    return std::nullopt;
  };
  Record run = start();
  run.log(metrics(1, 10));
  EXPECT_EQ(run.end(Status::finished).sent, 10U);
  EXPECT_EQ(steps_.size(), 10U);
  EXPECT_EQ(status_, "FINISHED");
}

TEST_F(MlflowTest, what_is_refused_for_good_is_lost_and_counted) {
  instead_ = [&](const http::Request& request) -> std::optional<http::Response> {
    if (request.body.find("\"metrics\"") != std::string::npos)
      return json_answer(400, R"({"error_code":"INVALID_PARAMETER_VALUE","message":"no"})");
    return std::nullopt;
  };
  Record run = start();
  run.log(metrics(1, 10));
  const Counts counts = run.end(Status::failed);
  EXPECT_EQ(counts.lost, 10U);
  EXPECT_EQ(counts.sent, 0U);
  EXPECT_EQ(status_, "FAILED") << "the rest goes on";
}

TEST_F(MlflowTest, a_run_that_may_not_be_made_is_not_asked_for_again) {
  instead_ = [&](const http::Request&) {
    return json_answer(403, R"({"error_code":"PERMISSION_DENIED","message":"no"})");
  };
  Record run = start();
  run.log(metrics(1, 10));
  EXPECT_EQ(run.end(Status::finished).lost, 10U);
  EXPECT_EQ(calls_.size(), 1U);
}

TEST_F(MlflowTest, lies_are_no_run) {
  instead_ = [&](const http::Request&) { return json_answer(200, R"({"run":{"info":{}},"experiment_id":5})"); };
  Pace pace = quick;
  pace.end = 100ms;
  Record run = start({}, pace);
  run.log(metrics(1, 10));
  EXPECT_EQ(run.end(Status::finished).lost, 10U);
}

TEST_F(MlflowTest, nobody_waits_for_a_server_that_is_away_or_slow) {
  for (const bool away : {true, false}) {
    instead_ = [](const http::Request&) {
      std::this_thread::sleep_for(2s);
      return json_answer(200, "{}");
    };
    if (away) url_ = "http://127.0.0.1:1";
    Pace pace = quick;
    pace.end = 300ms;
    pace.waiting = 100;
    const auto begin = std::chrono::steady_clock::now();
    Record run = start({}, pace);
    for (int i = 0; i < 1000; ++i) run.log(metrics(1, 1));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 100ms) << "logging";
    EXPECT_EQ(run.end(Status::finished).lost, 1000U);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s) << "the end";
    url_ = "http://127.0.0.1:" + std::to_string(server_->port());
  }
}

TEST_F(MlflowTest, what_is_pushed_out_while_it_is_sent_counts_once) {
  std::atomic<bool> hold = true;
  instead_ = [&](const http::Request& request) -> std::optional<http::Response> {
    if (request.body.find("\"metrics\"") != std::string::npos)
      while (hold) std::this_thread::sleep_for(1ms);
    return std::nullopt;
  };
  Pace pace = quick;
  pace.call = 10s;
  pace.waiting = 10;
  Record run = start({}, pace);
  run.log(metrics(1, 10));
  std::this_thread::sleep_for(200ms);  // the ten are on their way
  run.log(metrics(11, 4));
  hold = false;
  const Counts counts = run.end(Status::finished);
  EXPECT_EQ(counts.sent, 14U);
  EXPECT_EQ(counts.lost, 0U);
  EXPECT_EQ(steps_.size(), 14U);
}

}  // namespace
}  // namespace stackgate::mlflow
