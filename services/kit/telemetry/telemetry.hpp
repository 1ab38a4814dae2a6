// A service's traces, metrics and log lines on their way to a collector, by OTLP over HTTP.
//
//   auto telemetry = telemetry::Telemetry::start(telemetry::read_telemetry(values, "stackgate-x", host), registry,
//   tls); config.sampler = telemetry->sampler(); config.observers.push_back(telemetry->observer()); …
//   telemetry->shutdown(5s);
//
// Requests never wait for it: items go into bounded queues, what does not fit is dropped and counted, and one thread
// for each signal sends. One of it in a process: it takes the hooks of kit/log and kit/http_client.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "services/kit/metrics/registry.hpp"
#include "services/kit/telemetry/options.hpp"
#include "services/kit/web/app.hpp"

namespace stackgate::telemetry {

class Telemetry {
 public:
  /// `registry` gets stackgate_telemetry_* and is sent as the metrics: it and what it asks must outlive this object.
  /// `tls`: whether the service is served over HTTPS. With nothing to export it starts no thread.
  static std::unique_ptr<Telemetry> start(Options options, metrics::Registry& registry, bool tls);
  /// shutdown(1s), if that was not called.
  virtual ~Telemetry() = default;

  /// For web::AppConfig; empty functions when no traces are exported. They must not be called after this object's end.
  virtual std::function<bool(const http::Request&, const web::TraceContext&, bool quiet)> sampler() = 0;
  virtual std::function<void(const web::Served&)> observer() = 0;

  /// Takes spans of work that is no request (work.hpp), all of one trace; empty when that is not recorded. `parent`:
  /// the caller's word; nothing when the trace begins here. It must not be called after this object's end.
  virtual std::function<void(Span)> recorder(std::string_view trace_id, std::optional<bool> parent) = 0;

  /// Sends what is there, and the metrics a last time; returns within the limit and about a second. What could not be
  /// sent by then is dropped.
  virtual void shutdown(std::chrono::milliseconds limit) = 0;
};

}  // namespace stackgate::telemetry
