// What the calls of one ModelClient share.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "services/guardrail/models/client.hpp"
#include "services/kit/http_client/client.hpp"
#include "services/kit/http_client/engine.hpp"

namespace stackgate::guardrail {

class OutgoingCall;

/// Values of a label that come from configurations: the first ones as they are, then "other".
class BoundedLabel {
 public:
  std::string_view of(const std::string& value);

 private:
  static constexpr std::size_t most = 64;
  std::set<std::string, std::less<>> known_;
};

struct ModelClient::Impl : std::enable_shared_from_this<ModelClient::Impl> {
  Impl(ModelClientOptions given, metrics::Registry& registry);

  using Clock = std::chrono::steady_clock;
  static Breaker::Moment now() { return Clock::now().time_since_epoch(); }

  enum class Admission : std::uint8_t { runs, waits, refused };
  /// A place for a call, now or later, when its begin() is called.
  Admission admit(const std::shared_ptr<OutgoingCall>& call);
  /// A call gives its place back; the next one that waits begins.
  void leave();
  /// Whether it still waited.
  bool leave_queue(const OutgoingCall* call);

  std::optional<Breaker::Ticket> pass_breaker(const std::string& base_url, std::chrono::nanoseconds& wait);
  void report(const std::string& base_url, const Breaker::Ticket& ticket, Breaker::Result result);
  void count(const std::string& type, const std::string& task, std::string_view result, double seconds);

  void start(const std::shared_ptr<OutgoingCall>& call);
  void forget(const OutgoingCall* call);
  void stop();

  std::string first_model(const std::string& base_url);
  void remember_first_model(const std::string& base_url, const std::string& body);

  const ModelClientOptions options;
  const std::shared_ptr<http_client::Engine> engine;
  const http_client::Client client;

 private:
  metrics::Family<metrics::Counter>& calls_;
  metrics::Family<metrics::Histogram>& seconds_;
  metrics::Family<metrics::Gauge>& breakers_shown_;
  metrics::Gauge &under_way_shown_, &waiting_shown_;

  std::mutex mutex_;  // of what follows
  std::uint32_t under_way_ = 0;
  std::deque<std::shared_ptr<OutgoingCall>> waiting_;
  std::unordered_map<const OutgoingCall*, std::weak_ptr<OutgoingCall>> all_;
  std::map<std::string, Breaker> breakers_;
  std::map<std::string, std::string> first_models_;
  BoundedLabel types_, tasks_, upstreams_;
  bool stopped_ = false;
};

}  // namespace stackgate::guardrail
