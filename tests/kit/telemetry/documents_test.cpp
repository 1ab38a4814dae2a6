#include "services/kit/telemetry/documents.hpp"

#include <limits>

#include <gmock/gmock.h>

#include "tests/kit/telemetry/samples.hpp"

namespace stackgate::telemetry {
namespace {

using testing::HasSubstr;

constexpr std::string_view scope_text = R"("scope":{"name":"stackgate","version":")";

std::string without_scope(std::string text) {
  const auto at = text.find(scope_text);
  if (at == std::string::npos) return text;
  return text.erase(at, text.find('}', at) + 2 - at);
}

TEST(OtlpJson, writes_spans_with_ids_in_hex_and_times_as_text) {
  EXPECT_EQ(without_scope(traces_document(Encoding::json, sample_resource(), sample_spans())),
            R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"sample"}}]},)"
            R"("scopeSpans":[{"spans":[)"
            R"({"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","traceState":"a=b",)"
            R"("parentSpanId":"00f067aa0ba902b7","name":"GET /x/{y}","kind":2,)"
            R"("startTimeUnixNano":"1700000000000000001","endTimeUnixNano":"1700000000250000001","attributes":[)"
            R"({"key":"text","value":{"stringValue":"grün"}},{"key":"flag","value":{"boolValue":true}},)"
            R"({"key":"whole","value":{"intValue":"-7"}},{"key":"number","value":{"doubleValue":1.5}},)"
            R"({"key":"words","value":{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":""}]}}}],)"
            R"("status":{"message":"broke","code":2},"flags":769},)"
            R"({"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203332","name":"POST","kind":3,)"
            R"("startTimeUnixNano":"0","endTimeUnixNano":"0","attributes":[],"flags":257}]}]}]})");
}

TEST(OtlpJson, writes_log_records_with_their_place_in_the_trace) {
  EXPECT_EQ(without_scope(logs_document(Encoding::json, {}, sample_records())),
            R"({"resourceLogs":[{"resource":{"attributes":[]},"scopeLogs":[{"logRecords":[)"
            R"({"timeUnixNano":"1700000000000000001","severityNumber":13,"severityText":"WARN",)"
            R"("body":{"stringValue":"disk is full"},"attributes":[{"key":"file","value":{"stringValue":"/x"}}],)"
            R"("flags":1,"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331",)"
            R"("observedTimeUnixNano":"1700000000000000001"},)"
            R"({"timeUnixNano":"1700000000000000001","severityNumber":9,"severityText":"INFO",)"
            R"("body":{"stringValue":"started"},"attributes":[],"observedTimeUnixNano":"1700000000000000001"}]}]}]})");
}

TEST(OtlpJson, writes_metrics_as_sums_gauges_and_histograms) {
  metrics::Registry registry;
  fill_sample(registry);
  EXPECT_EQ(
      without_scope(metrics_document(Encoding::json, {}, sample_metrics(registry))),
      R"({"resourceMetrics":[{"resource":{"attributes":[]},"scopeMetrics":[{"metrics":[)"
      R"({"name":"things_bytes_total","description":"Things.","unit":"By","sum":{"dataPoints":[)"
      R"({"startTimeUnixNano":"1700000000000000000","timeUnixNano":"1700000060000000000","asInt":"3",)"
      R"("attributes":[{"key":"kind","value":{"stringValue":"a"}}]}],"aggregationTemporality":2,"isMonotonic":true}},)"
      R"({"name":"warmth","description":"Warmth.","gauge":{"dataPoints":[)"
      R"({"timeUnixNano":"1700000060000000000","asDouble":"NaN","attributes":[]}]}},)"
      R"({"name":"spent_seconds_total","description":"Spent.","unit":"s","sum":{"dataPoints":[)"
      R"({"startTimeUnixNano":"1700000000000000000","timeUnixNano":"1700000060000000000","asDouble":2.5,)"
      R"("attributes":[]}],"aggregationTemporality":2,"isMonotonic":true}},)"
      R"({"name":"took_seconds","description":"Took.","unit":"s","histogram":{"dataPoints":[)"
      R"({"startTimeUnixNano":"1700000000000000000","timeUnixNano":"1700000060000000000","count":"3","sum":8.75,)"
      R"("bucketCounts":["1","1","1"],"explicitBounds":[0.5,1],"attributes":[]}],"aggregationTemporality":2}}]}]}]})");
}

TEST(OtlpJson, mends_text_that_is_not_utf8) {
  EXPECT_THAT(logs_document(Encoding::json, {}, std::vector<LogRecord>{{.at = {}, .message = "\xff"}}),
              HasSubstr("\"body\":{\"stringValue\":\"\xef\xbf\xbd\"}"));
}

}  // namespace
}  // namespace stackgate::telemetry
