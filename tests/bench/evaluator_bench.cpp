// stackgate-evaluator with an endpoint of 50 ms: the wall time of 1,000 samples, 32 at a time, beside the ideal; its
// memory idle, and with 100,000 samples of results. Data set and endpoint are this process.
#include <cmath>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/app.hpp"
#include "services/kit/web/deferred.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/http_load.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::bench {
namespace {

using namespace std::chrono_literals;
constexpr auto thinking = 50ms;
constexpr int samples = 1'000, side_by_side = 32, many_samples = 100'000, rounds = 5;
const std::string program = "build/release/bin/stackgate-evaluator";

std::string rows(int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += fmt::format(R"({{"question":"What is {0} and {0}?","answer":"It is {1}, as everybody knows."}})"
                       "\n",
                       i, 2 * i);
  return out;
}

/// A hub with two data sets, ada/some and ada/many, and a model that answers after 50 ms.
class Outside {
 public:
  Outside() {
    web::AppConfig config;
    config.server.listen = "127.0.0.1:0";
    config.deferred_per_share = config.deferred;
    auto app = web::App::start(
        std::move(config),
        {{"GET", "/v1/models", text(R"({"object":"list","data":[{"id":"m"}]})"), {.on_io_thread = true}},
         {"POST", "/v1/completions", [this](web::Call& call) { return think(call); }, {.on_io_thread = true}},
         {"GET",
          "/v1/hf/api/datasets/ada/{name}/revision/{revision}",
          text(R"({"sha":"0123456789012345678901234567890123456789"})"),
          {.on_io_thread = true}},
         {"GET",
          "/v1/hf/api/datasets/ada/{name}/tree/{revision}",
          text(R"([{"type":"file","path":"rows.jsonl","oid":"x","size":1}])"),
          {.on_io_thread = true}},
         {"GET", "/v1/hf/datasets/ada/some/resolve/{revision}/{path...}", text(rows(samples)), {.on_io_thread = true}},
         {"GET",
          "/v1/hf/datasets/ada/many/resolve/{revision}/{path...}",
          text(rows(many_samples)),
          {.on_io_thread = true}}});
    if (!app) throw std::runtime_error("the endpoint does not start");
    app_ = std::move(*app);
    clock_ = std::jthread([this](const std::stop_token& stop) { answer(stop); });
  }
  std::uint16_t port() const { return app_->port(); }

 private:
  static web::Handler text(std::string body) {
    return [body = std::move(body)](web::Call&) -> web::Answer {
      return http::Response{200, "application/json", {}, body};
    };
  }
  web::Answer think(web::Call& call) {
    auto deferred = call.defer();
    if (!deferred) return deferred.error();
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(Clock::now() + thinking, *deferred);
    return web::Later{};
  }
  void answer(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::unique_lock lock(mutex_);
      const auto due = waiting_.empty() ? Clock::now() + 1ms : waiting_.front().first;
      if (waiting_.empty() || Clock::now() < due) {
        lock.unlock();
        std::this_thread::sleep_until(due);
        continue;
      }
      const auto call = std::move(waiting_.front().second);
      waiting_.pop_front();
      lock.unlock();
      call->answer(
          http::Response{200,
                         "application/json",
                         {},
                         R"({"choices":[{"index":0,"text":"It is 42, as everybody knows.","finish_reason":"stop"}]})"});
    }
  }

  std::mutex mutex_;
  std::deque<std::pair<Clock::time_point, std::shared_ptr<web::Deferred>>> waiting_;
  std::unique_ptr<web::App> app_;
  std::jthread clock_;
};

std::string post(std::uint16_t port, std::string_view path, std::string_view body) {
  return ask(port, fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
                               "Connection: close\r\n\r\n{}",
                               path, body.size(), body));
}

std::string state_of(std::uint16_t port, std::string_view name) {
  const std::string answer =
      ask(port, fmt::format("GET /v1/evaluations/{}/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", name));
  const std::size_t begin = answer.find("\r\n\r\n");
  json::Document document;
  const auto root = begin == std::string::npos ? std::unexpected(json::ParseError{})
                                               : json::parse(std::string_view(answer).substr(begin + 4), document);
  return root ? std::string(json::text(&*root, {"status"})) : std::string();
}

/// Seconds until it is completed. `params` after those that all have.
double evaluate(std::uint16_t port, std::uint16_t outside, std::string_view name, std::string_view dataset,
                std::string_view params) {
  const auto begun = Clock::now();
  const std::string answer = post(
      port, "/v1/evaluations",
      fmt::format(R"({{"name":"{}","model_endpoint":"http://127.0.0.1:{}/v1","framework":"similarity-metrics",)"
                  R"("dataset":"ada/{}","params":{{"reference":"{{{{ item.answer }}}}","format":"completions",{}}}}})",
                  name, outside, dataset, params));
  if (!answer.starts_with("HTTP/1.1 201")) throw std::runtime_error("no evaluation: " + answer);
  for (std::string state; state != "completed"; state = state_of(port, name)) {
    if (state == "failed" || Clock::now() - begun > 300s) throw std::runtime_error("the evaluation is " + state);
    std::this_thread::sleep_for(2ms);
  }
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

void run() {
  log::configure({.level = log::Level::warning});
  const test::TempDir dir;
  const Outside outside;
  Program evaluator(
      {program, "--datastore-url", fmt::format("http://127.0.0.1:{}/v1/hf", outside.port()), "--drain-wait", "0s"}, dir,
      "evaluator", -1);
  std::this_thread::sleep_for(1s);
  print({"evaluator_idle_memory", evaluator.process->memory_mib("VmRSS"), "MiB", 25, false, 0, ""});

  const double ideal =
      std::ceil(static_cast<double>(samples) / side_by_side) * std::chrono::duration<double>(thinking).count();
  double best = 1e9;
  for (int round = 0; round < rounds; ++round)
    best =
        std::min(best, evaluate(evaluator.port, outside.port(), fmt::format("some-{}", round), "some",
                                fmt::format(R"("prompt":"{{{{ item.question }}}}","parallelism":{})", side_by_side)));
  print({"evaluator_wall_beside_ideal", best / ideal, "x", 1.05, false, ideal,
         fmt::format("{:.3f} s for {} samples, {} at a time", best, samples, side_by_side)});

  const double seconds = evaluate(evaluator.port, outside.port(), "many", "many", R"("response":"{{ item.answer }}")");
  print({"evaluator_memory_of_100000_samples", evaluator.process->memory_mib("VmHWM"), "MiB", 64, false, 0,
         fmt::format("at most, while and after they were scored in {:.1f} s", seconds)});
}

}  // namespace
}  // namespace stackgate::bench

int main() {
  stackgate::bench::run();
  return stackgate::bench::exit_status;
}
