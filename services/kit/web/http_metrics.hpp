// The figures of a routing table, under these names (Prometheus):
//
//   stackgate_http_requests_total{route,method,code}       stackgate_http_request_duration_seconds{route}
//   stackgate_http_requests_in_flight                      stackgate_http_request_bytes_total{route}
//   stackgate_http_refused_total{reason}                   stackgate_http_response_bytes_total{route}
//
// beside those of server_metrics.hpp.
#pragma once
#include <chrono>
#include <cstdint>
#include <string_view>

#include "services/kit/metrics/registry.hpp"

namespace stackgate::web {

/// Thread-safe.
class HttpMetrics {
 public:
  /// Throws std::invalid_argument when the registry has these names already: one App for each registry.
  explicit HttpMetrics(metrics::Registry& registry);
  void arrived() { in_flight_.add(1); }
  void finished(std::string_view route, std::string_view method, int status, std::uint64_t bytes_in,
                std::uint64_t bytes_out, std::chrono::nanoseconds took, bool quiet);
  /// Too many requests, or too many uploads and downloads of one client, are waiting already, or for too long.
  void refused_request() { refused_.at({"pool_full"}).add(); }
  void refused_transfer() { refused_.at({"transfers_full"}).add(); }
  void refused_deferred() { refused_.at({"deferred_full"}).add(); }

 private:
  metrics::Family<metrics::Counter>& requests_;
  metrics::Family<metrics::Histogram>& durations_;
  metrics::Gauge& in_flight_;
  metrics::Family<metrics::Counter>& bytes_in_;
  metrics::Family<metrics::Counter>& bytes_out_;
  metrics::Family<metrics::Counter>& refused_;
};

}  // namespace stackgate::web
