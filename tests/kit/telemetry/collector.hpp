// A collector to be sent to: keeps what comes, and answers as it is told.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "services/kit/http/server.hpp"
#include "services/kit/web/inflate.hpp"

namespace stackgate::telemetry {

struct Delivery {
  std::string path, content_type, encoding, authorization, traceparent;
  std::string body;  // inflated
  std::chrono::steady_clock::time_point at;
};

class Collector {
 public:
  /// Called for each delivery, with how many there were before it; nothing means that no answer comes.
  using Answering = std::function<std::optional<http::Response>(const Delivery&, std::size_t before)>;
  explicit Collector(Answering answering = {}, std::string listen = "127.0.0.1:0") : answering_(std::move(answering)) {
    auto started = http::Server::start(
        {.listen = std::move(listen)},
        [this](const http::Request& request, http::Responder respond) { take(request, std::move(respond)); });
    if (started) server_ = std::move(*started);
  }
  std::uint16_t port() const { return server_->port(); }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port()); }
  std::vector<Delivery> all() const {
    const std::lock_guard lock(mutex_);
    return deliveries_;
  }
  /// Waits until so many have come, five seconds at most.
  std::vector<Delivery> wait_for(std::size_t count) const {
    for (int i = 0; i < 1000 && all().size() < count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return all();
  }

 private:
  void take(const http::Request& request, http::Responder respond) {
    Delivery delivery{std::string(request.path),
                      std::string(request.header("content-type")),
                      std::string(request.header("content-encoding")),
                      std::string(request.header("authorization")),
                      std::string(request.header("traceparent")),
                      std::string(request.body),
                      std::chrono::steady_clock::now()};
    if (delivery.encoding == "gzip") delivery.body = web::inflate(request.body, {}).value_or("this does not inflate");
    std::size_t before = 0;
    {
      const std::lock_guard lock(mutex_);
      before = deliveries_.size();
      deliveries_.push_back(delivery);
    }
    std::optional<http::Response> answer = http::Response{200, "application/json", {}, "{}"};
    if (answering_) answer = answering_(delivery, before);
    if (answer) return respond(std::move(*answer));
    const std::lock_guard lock(mutex_);
    unanswered_.push_back(std::move(respond));
  }

  const Answering answering_;
  mutable std::mutex mutex_;
  std::vector<Delivery> deliveries_;
  std::vector<http::Responder> unanswered_;
  std::unique_ptr<http::Server> server_;  // last: it uses the rest
};

}  // namespace stackgate::telemetry
