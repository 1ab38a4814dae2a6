// One signal's way to its collector: HTTP POST, repeated as OTLP says
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp). One thread at a time.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "services/kit/http_client/client.hpp"
#include "services/kit/telemetry/options.hpp"
#include "services/kit/telemetry/shutdown_deadline.hpp"

namespace stackgate::telemetry {

struct Sent {
  bool arrived = false;
  std::uint64_t rejected = 0;  // items that the collector took no liking to, of a batch that arrived
  std::string words{};         // why not, or what the collector says beside its yes
};

class Sender {
 public:
  /// Both must outlive it.
  Sender(const Options& options, const Output& output, ShutdownDeadline& deadline);

  /// Blocks: until it has arrived, `whole` is over, or the process may wait no longer. 429, 502, 503, 504 and broken
  /// connections are tried again, after Retry-After where it is given; that also holds back the next batch.
  Sent send(const std::string& body, std::chrono::milliseconds whole);

 private:
  std::optional<Sent> attempt(const http_client::Request& call, std::string& why,
                              std::optional<std::chrono::seconds>& asked) const;
  const Options& options_;
  const Output& output_;
  ShutdownDeadline& deadline_;
  mutable http_client::Client client_;
  ShutdownDeadline::Clock::time_point not_before_{};
};

}  // namespace stackgate::telemetry
