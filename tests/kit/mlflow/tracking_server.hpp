// A tracking server with one experiment that keeps what it is told, and does what a test wants instead.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include <gtest/gtest.h>

#include "services/kit/http/server.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/mlflow/run.hpp"

namespace stackgate::mlflow {

using Record = Run;  // testing::Test has a Run of its own

class MlflowTest : public testing::Test {
 protected:
  using Instead = std::function<std::optional<http::Response>(const http::Request&)>;
  static constexpr int no_answer = 0;  // a status: the caller waits

  MlflowTest() {
    log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2});
    auto started = http::Server::start({}, [this](const http::Request& request, http::Responder respond) {
      http::Response out = answer(request);
      if (out.status != no_answer) return respond(std::move(out));
      held_.push_back(std::move(respond));
    });
    server_ = std::move(started.value());
    url_ = "http://127.0.0.1:" + std::to_string(server_->port());
  }

  http::Response answer(const http::Request& request) {
    const std::lock_guard lock(mutex_);
    const std::string path(request.path);
    const bool is_file = path.starts_with(files);
    calls_.push_back(is_file ? path.substr(files.size()) : path.substr(path.rfind("mlflow/") + 7));
    authorization_ = request.header("Authorization");
    if (instead_)
      if (auto other = instead_(request)) return std::move(*other);
    if (is_file) {
      files_[calls_.back()] = request.body;
      return json_answer(200, "{}");
    }
    if (calls_.back() == "runs/get")
      return json_answer(200,
                         R"({"run":{"info":{"run_id":"r1","artifact_uri":")" + artifact_uri_ + R"("},"data":{}}})");
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
  static constexpr std::string_view files = "/api/2.0/mlflow-artifacts/artifacts/";
  static constexpr Pace quick{.call = std::chrono::milliseconds(500),
                              .between = std::chrono::milliseconds(1),
                              .first_pause = std::chrono::milliseconds(5),
                              .longest_pause = std::chrono::milliseconds(20),
                              .end = std::chrono::seconds(5)};

  std::mutex mutex_;
  Instead instead_;
  bool experiment_ = false;
  std::vector<std::string> calls_;
  std::vector<std::int64_t> steps_;
  std::map<std::string, std::string> params_, files_;
  std::string artifact_uri_ = "mlflow-artifacts:/7/r1/artifacts";
  std::string status_, authorization_, url_, known_;
  std::size_t largest_ = 0;
  std::vector<http::Responder> held_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace stackgate::mlflow
