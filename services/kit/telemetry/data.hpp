// What is exported, as plain values: the OpenTelemetry data model as far as it is used here.
// Source: https://github.com/open-telemetry/opentelemetry-proto (v1, stable).
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "services/kit/log/log.hpp"
#include "services/kit/metrics/registry.hpp"

namespace stackgate::telemetry {

using Time = std::chrono::system_clock::time_point;

struct Attribute {
  using Value = std::variant<std::string, bool, std::int64_t, double, std::vector<std::string>>;
  std::string key;
  Value value;
  bool operator==(const Attribute&) const = default;
};
using Attributes = std::vector<Attribute>;

/// Ids are lower-case hex as in traceparent: 32 digits of a trace, 16 of a span.
struct Span {
  enum class Kind : std::uint8_t { internal = 1, server = 2, client = 3 };
  std::string trace_id, span_id, parent_id, state;
  std::string name;
  Kind kind = Kind::server;
  Time began, ended;
  Attributes attributes{};
  bool failed = false;
  std::string failure{};  // words for it; servers leave them to the log
};

struct LogRecord {
  Time at;
  log::Level level = log::Level::info;
  std::string message;
  Attributes attributes{};
  std::string trace_id{}, span_id{};  // empty outside a trace
  bool sampled = false;
};

/// All values of one moment; sums count from `since`.
struct Metrics {
  std::vector<metrics::Snapshot> families;
  Time since, at;
};

}  // namespace stackgate::telemetry
