// An OpenAI endpoint on the loopback that answers as a test says, and what it was asked.
#pragma once
#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "services/kit/http/text.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/deferred.hpp"
#include "tests/kit/web/app_support.hpp"

namespace stackgate::guardrail::test {

struct Asked {
  std::string path, body, authorization, traceparent;
};

class UpstreamDouble {
 public:
  using Script = std::function<web::Answer(web::Call& call, const Asked& asked, int number)>;

  explicit UpstreamDouble(Script script) : script_(std::move(script)) {
    log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2});
    std::vector<web::Route> routes;
    for (const char* method : {"GET", "POST"})
      routes.push_back({method, "/{path...}", [this](web::Call& call) -> web::Answer {
                          const auto body = call.body();
                          Asked asked{.path = std::string(call.request().path), .body = body ? std::string(*body) : ""};
                          for (const auto& [name, value] : call.request().headers) {
                            if (http::equal_ignoring_case(name, "authorization")) asked.authorization = value;
                            if (http::equal_ignoring_case(name, "traceparent")) asked.traceparent = value;
                          }
                          int number = 0;
                          {
                            const std::lock_guard lock(mutex_);
                            asked_.push_back(asked);
                            number = static_cast<int>(asked_.size());
                          }
                          return script_(call, asked, number);
                        }});
    app_ = web::test::start(std::move(routes));
  }
  ~UpstreamDouble() { app_.reset(); }
  UpstreamDouble(const UpstreamDouble&) = delete;
  UpstreamDouble& operator=(const UpstreamDouble&) = delete;

  std::string base_url() const { return "http://127.0.0.1:" + std::to_string(app_->port()) + "/v1"; }
  std::vector<Asked> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  std::size_t count() const { return asked().size(); }

 private:
  const Script script_;
  mutable std::mutex mutex_;
  std::vector<Asked> asked_;
  std::unique_ptr<web::App> app_;
};

inline http::Response json_reply(int status, std::string body) {
  return {status, "application/json", {}, std::move(body)};
}
inline http::Response says(const std::string& text) {
  return json_reply(200, R"({"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":")" + text +
                             R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}})");
}
inline std::string chunk(const std::string& text) {
  return R"(data: {"model":"m","choices":[{"index":0,"delta":{"content":")" + text + R"("}}]})" + "\n\n";
}
inline http::Response event_stream(std::string body) { return {200, "text/event-stream", {}, std::move(body)}; }

/// Waits for what a function of the caller gets.
template <class T>
class Waiter {
 public:
  auto function() {
    return [promise = promise_](T value) { promise->set_value(std::move(value)); };
  }
  T get() {
    if (future_.wait_for(std::chrono::seconds(20)) != std::future_status::ready)
      throw std::runtime_error("nothing came within 20 seconds");
    return future_.get();
  }
  bool is_there() const { return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

 private:
  std::shared_ptr<std::promise<T>> promise_ = std::make_shared<std::promise<T>>();
  std::future<T> future_ = promise_->get_future();
};

}  // namespace stackgate::guardrail::test
