#include "services/kit/http_client/traced_call.hpp"

#include <atomic>
#include <mutex>
#include <random>
#include <shared_mutex>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/http_client/url.hpp"

namespace stackgate::http_client {
namespace traced_call_detail {

struct Place {
  std::atomic<bool> taken{false};
  std::shared_mutex mutex;
  std::function<void(const Traced&)> observer;
};
Place& place() {
  static auto* only = new Place;  // threads may call while the process ends
  return *only;
}

// Span ids are no secret: they only must not meet within a trace.
std::string new_span_id() {
  thread_local std::mt19937_64 dice = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  std::uint64_t id = 0;
  while (id == 0) id = dice();
  return fmt::format("{:016x}", id);
}

}  // namespace traced_call_detail

void set_observer(std::function<void(const Traced&)> observer) {
  traced_call_detail::Place& place = traced_call_detail::place();
  const std::unique_lock lock(place.mutex);
  place.taken = static_cast<bool>(observer);
  place.observer = std::move(observer);
}

bool passes_trace_on(const Request& call, const Options& options) {
  if (current_trace() == nullptr || options.public_addresses_only) return false;
  for (const auto& [name, value] : call.headers)
    if (ascii::equal_ignoring_case(name, "traceparent")) return false;
  return true;
}

TracedCall::TracedCall(const Request& call) {
  const CurrentTrace& trace = *current_trace();
  if (trace.sampled && traced_call_detail::place().taken) {
    span_id_ = traced_call_detail::new_span_id();
    trace_id_ = trace.trace_id;
    parent_id_ = trace.span_id;
    state_ = trace.state;
    method_ = call.method;
    url_ = without_secrets(call.url);
  }
  headers_.emplace_back("traceparent",
                        fmt::format("00-{}-{}-{}", trace.trace_id, span_id_.empty() ? trace.span_id : span_id_,
                                    trace.sampled ? "01" : "00"));
  if (!trace.state.empty()) headers_.emplace_back("tracestate", trace.state);
}

void TracedCall::ended(int status, std::string_view error) const {
  if (span_id_.empty()) return;
  traced_call_detail::Place& place = traced_call_detail::place();
  const std::shared_lock lock(place.mutex);
  if (!place.observer) return;
  const CurrentTrace trace{.trace_id = trace_id_, .span_id = parent_id_, .state = state_, .sampled = true};
  place.observer({trace, span_id_, method_, url_, status, error, began_, std::chrono::steady_clock::now() - at_});
}

}  // namespace stackgate::http_client
