#include "services/kit/mlflow/run.hpp"

#include <array>
#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "tests/kit/mlflow/tracking_server.hpp"

namespace stackgate::mlflow {
namespace {

using namespace std::chrono_literals;

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
