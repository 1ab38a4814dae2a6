#include "services/kit/web/http_metrics.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace stackgate::web {
namespace http_metrics_detail {

// The client chooses the method, and a label must not grow at its will.
std::string_view known_method(std::string_view method) {
  static constexpr std::array<std::string_view, 7> known{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  const auto found = std::ranges::find(known, method);
  return found == known.end() ? std::string_view("other") : *found;
}

}  // namespace http_metrics_detail

HttpMetrics::HttpMetrics(metrics::Registry& registry)
    : requests_(registry.counter("stackgate_http_requests_total", "Requests answered, by route, method and status.",
                                 {"route", "method", "code"})),
      durations_(registry.histogram("stackgate_http_request_duration_seconds",
                                    "From a request's arrival to its answer's end.", {"route"})),
      in_flight_(registry.gauge("stackgate_http_requests_in_flight", "Requests being served.").at()),
      bytes_in_(registry.counter("stackgate_http_request_bytes_total", "Bytes of requests' bodies.", {"route"})),
      bytes_out_(registry.counter("stackgate_http_response_bytes_total", "Bytes of answers' bodies.", {"route"})),
      refused_(registry.counter("stackgate_http_refused_total", "Requests refused because too many wait already.",
                                {"reason"})) {
  refused_.at({"pool_full"});
  refused_.at({"transfers_full"});
  refused_.at({"deferred_full"});
}

void HttpMetrics::finished(std::string_view route, std::string_view method, int status, std::uint64_t bytes_in,
                           std::uint64_t bytes_out, std::chrono::nanoseconds took, bool quiet) {
  in_flight_.add(-1);
  std::array<char, 8> code{};
  const auto end = std::to_chars(code.data(), code.data() + code.size(), status);
  requests_
      .at({route, http_metrics_detail::known_method(method),
           std::string_view(code.data(), static_cast<std::size_t>(end.ptr - code.data()))})
      .add();
  if (bytes_in > 0) bytes_in_.at({route}).add(bytes_in);
  if (bytes_out > 0) bytes_out_.at({route}).add(bytes_out);
  if (!quiet) durations_.at({route}).observe(std::chrono::duration<double>(took).count());
}

}  // namespace stackgate::web
