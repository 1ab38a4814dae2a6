// One of everything that is exported.
#pragma once
#include <limits>
#include <vector>

#include "services/kit/telemetry/documents.hpp"

namespace stackgate::telemetry {

inline Time at_nanoseconds(std::int64_t nanoseconds) { return Time(std::chrono::nanoseconds(nanoseconds)); }

inline Attributes sample_resource() { return {{"service.name", "sample"}}; }

inline std::vector<Span> sample_spans() {
  return {{.trace_id = "0af7651916cd43dd8448eb211c80319c",
           .span_id = "b7ad6b7169203331",
           .parent_id = "00f067aa0ba902b7",
           .state = "a=b",
           .name = "GET /x/{y}",
           .kind = Span::Kind::server,
           .began = at_nanoseconds(1'700'000'000'000'000'001),
           .ended = at_nanoseconds(1'700'000'000'250'000'001),
           .attributes = {{"text", "grün"},
                          {"flag", true},
                          {"whole", std::int64_t{-7}},
                          {"number", 1.5},
                          {"words", std::vector<std::string>{"a", ""}}},
           .failed = true,
           .failure = "broke"},
          {.trace_id = "0af7651916cd43dd8448eb211c80319c",
           .span_id = "b7ad6b7169203332",
           .name = "POST",
           .kind = Span::Kind::client}};
}

inline std::vector<LogRecord> sample_records() {
  return {{.at = at_nanoseconds(1'700'000'000'000'000'001),
           .level = log::Level::warning,
           .message = "disk is full",
           .attributes = {{"file", "/x"}},
           .trace_id = "0af7651916cd43dd8448eb211c80319c",
           .span_id = "b7ad6b7169203331",
           .sampled = true},
          {.at = at_nanoseconds(1'700'000'000'000'000'001), .level = log::Level::info, .message = "started"}};
}

inline void fill_sample(metrics::Registry& registry) {
  static constexpr double bounds[] = {0.5, 1};
  registry.counter("things_bytes_total", "Things.", {"kind"}).at({"a"}).add(3);
  registry.gauge("warmth", "Warmth.").at().set(std::numeric_limits<double>::quiet_NaN());
  registry.counter_from("spent_seconds_total", "Spent.", [] { return 2.5; });
  auto& took = registry.histogram("took_seconds", "Took.", {}, bounds).at();
  for (const double seconds : {0.25, 1.0, 7.5}) took.observe(seconds);
}

inline Metrics sample_metrics(const metrics::Registry& registry) {
  return {registry.snapshot(), at_nanoseconds(1'700'000'000'000'000'000), at_nanoseconds(1'700'000'060'000'000'000)};
}

}  // namespace stackgate::telemetry
