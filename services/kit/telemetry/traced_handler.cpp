#include "services/kit/telemetry/traced_handler.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "services/kit/base/current_trace.hpp"
#include "services/kit/web/trace_context.hpp"

namespace stackgate::telemetry {
namespace traced_handler_detail {

using Observer = std::function<void(const web::Served&)>;

/// Shows the request just before its answer leaves: its head may be gone afterwards.
class TracedAnswer final : public http::Responder::Sink {
 public:
  TracedAnswer(http::Responder inner, const http::Request& request, std::string_view pattern, web::TraceContext trace,
               const Observer& observer)
      : inner_(std::move(inner)), request_(request), pattern_(pattern), trace_(std::move(trace)), observer_(observer) {
    request_.body = {};
  }
  /// Good while this lives.
  CurrentTrace current() const { return {trace_.trace_id, trace_.span_id, trace_.state, trace_.sampled}; }
  void send(http::Response&& response) override {
    show(response.status, response.body.size());
    inner_(std::move(response));
  }
  std::unique_ptr<http::BodyWriter> start(http::Response&& head, std::optional<std::uint64_t> length) override {
    show(head.status, length.value_or(0));
    return inner_.start(std::move(head), length);
  }
  std::unique_ptr<http::AsyncBodyWriter> stream(http::Response&& head, std::optional<std::uint64_t> length) override {
    show(head.status, length.value_or(0));
    return inner_.stream(std::move(head), length);
  }
  void observe(std::shared_ptr<http::AnswerWatcher> watcher) override { inner_.observe(std::move(watcher)); }

 private:
  void show(int status, std::uint64_t bytes_out) const {
    observer_({request_,
               pattern_,
               {},
               {},
               status,
               body_size_,
               bytes_out,
               std::chrono::steady_clock::now() - at_,
               trace_,
               began_,
               false,
               true});
  }

  http::Responder inner_;
  http::Request request_;  // views of the connection's, good until the answer
  const std::uint64_t body_size_ = request_.body.size();
  const std::string_view pattern_;
  const web::TraceContext trace_;
  const Observer& observer_;
  const std::chrono::system_clock::time_point began_ = std::chrono::system_clock::now();
  const std::chrono::steady_clock::time_point at_ = std::chrono::steady_clock::now();
};

}  // namespace traced_handler_detail

http::Handler traced(http::Handler handler, Telemetry& telemetry, std::vector<std::string_view> routes) {
  auto observer = telemetry.observer();
  if (!observer) return handler;
  return [handler = std::move(handler), routes = std::move(routes), sampler = telemetry.sampler(),
          observer = std::move(observer)](const http::Request& request, http::Responder respond) {
    web::TraceContext trace = web::continue_trace(request.header("traceparent"), request.header("tracestate"));
    trace.sampled = sampler(request, trace, false);
    const auto route = std::ranges::find(routes, request.path);
    const auto answer = std::make_shared<traced_handler_detail::TracedAnswer>(
        std::move(respond), request, route == routes.end() ? "unmatched" : *route, std::move(trace), observer);
    const TraceScope scope(answer->current());
    handler(request, http::Responder(answer));
  };
}

}  // namespace stackgate::telemetry
