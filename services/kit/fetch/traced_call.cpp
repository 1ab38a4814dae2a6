#include "services/kit/fetch/traced_call.hpp"

#include <atomic>
#include <mutex>
#include <random>
#include <shared_mutex>

#include <fmt/format.h>

#include "services/kit/fetch/checks.hpp"
#include "services/kit/fetch/words.hpp"

namespace stackgate::fetch {
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

bool tells_trace(const Call& call, const Options& options) {
  if (current_trace() == nullptr || options.public_addresses_only) return false;
  for (const auto& [name, value] : call.headers)
    if (equal_without_case(name, "traceparent")) return false;
  return true;
}

TracedCall::TracedCall(const Call& call) : trace_(*current_trace()), call_(call) {
  if (trace_.sampled && traced_call_detail::place().taken) span_id_ = traced_call_detail::new_span_id();
  headers_.emplace_back("traceparent",
                        fmt::format("00-{}-{}-{}", trace_.trace_id, span_id_.empty() ? trace_.span_id : span_id_,
                                    trace_.sampled ? "01" : "00"));
  if (!trace_.state.empty()) headers_.emplace_back("tracestate", trace_.state);
}

void TracedCall::ended(const std::expected<Reply, Error>& reply) const {
  if (span_id_.empty()) return;
  const std::string url = without_secrets(call_.url);
  traced_call_detail::Place& place = traced_call_detail::place();
  const std::shared_lock lock(place.mutex);
  if (!place.observer) return;
  place.observer({trace_, span_id_, call_.method, url, reply ? reply->status : 0,
                  reply ? std::string_view() : std::string_view(reply.error().message), began_,
                  std::chrono::steady_clock::now() - at_});
}

}  // namespace stackgate::fetch
