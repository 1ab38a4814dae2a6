#include "services/kit/telemetry/documents.hpp"

#include <array>
#include <utility>

#include "services/kit/base/version.hpp"
#include "services/kit/telemetry/json_encoder.hpp"
#include "services/kit/telemetry/protobuf.hpp"

// Field numbers and names as in opentelemetry-proto's common.proto, resource.proto, trace.proto, logs.proto and
// metrics.proto. A list with one item stands where the protocol wants a list.
namespace stackgate::telemetry {
namespace documents_detail {

constexpr std::array<int, 1> one{};

std::uint64_t nanoseconds(Time time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

struct PutValue {
  auto operator()(auto& to, const Attribute::Value& value) const -> void {
    std::visit([&](const auto& held) { put(to, held); }, value);
  }
  static void put(auto& to, const std::string& text) { to.text(1, "stringValue", text); }
  static void put(auto& to, bool flag) { to.flag(2, "boolValue", flag); }
  static void put(auto& to, std::int64_t whole) { to.int64(3, "intValue", whole); }
  static void put(auto& to, double number) { to.number(4, "doubleValue", number); }
  static void put(auto& to, const std::vector<std::string>& words) {
    to.message(5, "arrayValue",
               [&] { to.list(1, "values", words, [&](const std::string& word) { to.text(1, "stringValue", word); }); });
  }
};

void put_attributes(auto& to, unsigned field, const Attributes& attributes) {
  to.list(field, "attributes", attributes, [&](const Attribute& each) {
    to.text(1, "key", each.key);
    to.message(2, "value", [&] { PutValue{}(to, each.value); });
  });
}

/// What the three requests share: resource → scope → `items`.
template <class Encoder, class Items>
void put_request(Encoder& to, std::string_view resources, std::string_view scopes, const Attributes& resource,
                 const Items& items) {
  to.list(1, resources, one, [&](int) {
    to.message(1, "resource", [&] { put_attributes(to, 1, resource); });
    to.list(2, scopes, one, [&](int) {
      to.message(1, "scope", [&] {
        to.text(1, "name", "stackgate");
        to.text(2, "version", version);
      });
      items();
    });
  });
}

template <class Put>
std::string document(Encoding encoding, const Put& put) {
  std::string out;
  if (encoding == Encoding::json) {
    JsonEncoder to(out);
    to.whole([&] { put(to); });
  } else {
    ProtobufEncoder to(out);
    put(to);
  }
  return out;
}

void put_span(auto& to, const Span& span) {
  constexpr std::uint32_t sampled = 1, knows_remote = 0x100, is_remote = 0x200;
  to.id(1, "traceId", span.trace_id);
  to.id(2, "spanId", span.span_id);
  if (!span.state.empty()) to.text(3, "traceState", span.state);
  if (!span.parent_id.empty()) to.id(4, "parentSpanId", span.parent_id);
  to.text(5, "name", span.name);
  to.word(6, "kind", static_cast<std::uint32_t>(span.kind));
  to.fixed64(7, "startTimeUnixNano", nanoseconds(span.began));
  to.fixed64(8, "endTimeUnixNano", nanoseconds(span.ended));
  put_attributes(to, 9, span.attributes);
  if (span.failed) {
    to.message(15, "status", [&] {
      if (!span.failure.empty()) to.text(2, "message", span.failure);
      to.word(3, "code", 2);
    });
  }
  const bool remote = span.kind == Span::Kind::server && !span.parent_id.empty();
  to.fixed32(16, "flags", sampled | knows_remote | (remote ? is_remote : 0));
}

// https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber
std::pair<std::uint32_t, std::string_view> severity(log::Level level) {
  switch (level) {
    case log::Level::debug:
      return {5, "DEBUG"};
    case log::Level::info:
      return {9, "INFO"};
    case log::Level::warning:
      return {13, "WARN"};
    case log::Level::error:
      break;
  }
  return {17, "ERROR"};
}

void put_record(auto& to, const LogRecord& record) {
  const auto [number, word] = severity(record.level);
  to.fixed64(1, "timeUnixNano", nanoseconds(record.at));
  to.word(2, "severityNumber", number);
  to.text(3, "severityText", word);
  to.message(5, "body", [&] { to.text(1, "stringValue", record.message); });
  put_attributes(to, 6, record.attributes);
  if (!record.trace_id.empty()) {
    to.fixed32(8, "flags", record.sampled ? 1 : 0);
    to.id(9, "traceId", record.trace_id);
    to.id(10, "spanId", record.span_id);
  }
  to.fixed64(11, "observedTimeUnixNano", nanoseconds(record.at));
}

/// The name keeps its Prometheus ending, so that both ways lead to one name.
std::string_view unit_of(std::string_view name) {
  if (name.ends_with("_total")) name.remove_suffix(6);
  return name.ends_with("_seconds") ? "s" : name.ends_with("_bytes") ? "By" : "";
}

Attributes labels_of(const metrics::Snapshot& family, const metrics::Point& point) {
  Attributes out;
  for (std::size_t i = 0; i < point.labels.size(); ++i) out.push_back({family.label_names[i], point.labels[i]});
  return out;
}

void put_number_point(auto& to, const metrics::Snapshot& family, const metrics::Point& point, const Metrics& all) {
  if (family.type == metrics::Type::counter) to.fixed64(2, "startTimeUnixNano", nanoseconds(all.since));
  to.fixed64(3, "timeUnixNano", nanoseconds(all.at));
  if (family.whole) {
    // asInt is an sfixed64: the same eight bytes, and text in JSON.
    to.fixed64(6, "asInt", point.count);
  } else {
    to.number(4, "asDouble", point.value);
  }
  put_attributes(to, 7, labels_of(family, point));
}

void put_histogram_point(auto& to, const metrics::Snapshot& family, const metrics::Point& point, const Metrics& all) {
  to.fixed64(2, "startTimeUnixNano", nanoseconds(all.since));
  to.fixed64(3, "timeUnixNano", nanoseconds(all.at));
  to.fixed64(4, "count", point.count);
  to.number(5, "sum", point.value);
  to.counts(6, "bucketCounts", point.buckets);
  to.numbers(7, "explicitBounds", family.bounds);
  put_attributes(to, 9, labels_of(family, point));
}

void put_metric(auto& to, const metrics::Snapshot& family, const Metrics& all) {
  constexpr std::uint32_t cumulative = 2;
  to.text(1, "name", family.name);
  to.text(2, "description", family.help);
  if (const auto unit = unit_of(family.name); !unit.empty()) to.text(3, "unit", unit);
  const auto numbers = [&] {
    to.list(1, "dataPoints", family.points, [&](const auto& point) { put_number_point(to, family, point, all); });
  };
  switch (family.type) {
    case metrics::Type::gauge:
      to.message(5, "gauge", numbers);
      break;
    case metrics::Type::counter:
      to.message(7, "sum", [&] {
        numbers();
        to.word(2, "aggregationTemporality", cumulative);
        to.flag(3, "isMonotonic", true);
      });
      break;
    case metrics::Type::histogram:
      to.message(9, "histogram", [&] {
        to.list(1, "dataPoints", family.points,
                [&](const auto& point) { put_histogram_point(to, family, point, all); });
        to.word(2, "aggregationTemporality", cumulative);
      });
      break;
  }
}

}  // namespace documents_detail

std::string_view media_type(Encoding encoding) {
  return encoding == Encoding::json ? "application/json" : "application/x-protobuf";
}

std::string traces_document(Encoding encoding, const Attributes& resource, std::span<const Span> spans) {
  using namespace documents_detail;
  return document(encoding, [&](auto& to) {
    put_request(to, "resourceSpans", "scopeSpans", resource,
                [&] { to.list(2, "spans", spans, [&](const Span& span) { put_span(to, span); }); });
  });
}

std::string logs_document(Encoding encoding, const Attributes& resource, std::span<const LogRecord> records) {
  using namespace documents_detail;
  return document(encoding, [&](auto& to) {
    put_request(to, "resourceLogs", "scopeLogs", resource,
                [&] { to.list(2, "logRecords", records, [&](const LogRecord& each) { put_record(to, each); }); });
  });
}

std::string metrics_document(Encoding encoding, const Attributes& resource, const Metrics& metrics) {
  using namespace documents_detail;
  return document(encoding, [&](auto& to) {
    put_request(to, "resourceMetrics", "scopeMetrics", resource, [&] {
      to.list(2, "metrics", metrics.families, [&](const auto& family) { put_metric(to, family, metrics); });
    });
  });
}

}  // namespace stackgate::telemetry
