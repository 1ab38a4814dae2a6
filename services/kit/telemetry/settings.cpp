#include "services/kit/settings/table.hpp"
#include "services/kit/telemetry/options.hpp"

namespace stackgate::telemetry {

std::vector<settings::Setting> telemetry_settings() {
  using namespace settings::table;
  constexpr std::int64_t hour = 3'600'000;  // ms
  const auto exporter = [](std::string_view name, std::string_view help) {
    return choice(name, {"otlp", "console", "none"}, help, "otlp");
  };
  const std::pair<std::string_view, settings::Setting> by_variables[] = {
      {"OTEL_SDK_DISABLED", flag("otel-sdk-disabled", "send nothing; traceparent is still passed on", "false")},
      {"OTEL_EXPORTER_OTLP_ENDPOINT",
       url("otel-endpoint", "the collector, such as http://collector:4318; without it otlp exporters are off")},
      {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", url("otel-traces-endpoint", "whole URL for traces")},
      {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", url("otel-metrics-endpoint", "whole URL for metrics")},
      {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", url("otel-logs-endpoint", "whole URL for logs")},
      {"OTEL_TRACES_EXPORTER", exporter("otel-traces-exporter", "where spans of requests go")},
      {"OTEL_METRICS_EXPORTER", exporter("otel-metrics-exporter", "where metrics go, besides /metrics")},
      {"OTEL_LOGS_EXPORTER", exporter("otel-logs-exporter", "where log lines go, besides stderr")},
      {"OTEL_EXPORTER_OTLP_PROTOCOL",
       choice("otel-protocol", {"http/protobuf", "http/json"}, "gRPC is not spoken", "http/protobuf")},
      {"OTEL_EXPORTER_OTLP_COMPRESSION", choice("otel-compression", {"gzip", "none"}, "of bodies over 1 KiB", "gzip")},
      {"OTEL_EXPORTER_OTLP_HEADERS", secret("otel-headers", "name=value,… for the collector")},
      {"OTEL_EXPORTER_OTLP_TIMEOUT", integer("otel-timeout", "for one request, in ms", "10000", 1, hour)},
      {"OTEL_EXPORTER_OTLP_CERTIFICATE", text("otel-ca-file", "certificates to trust, PEM; the system's without it")},
      {"OTEL_SERVICE_NAME", text("otel-service-name", "what this service is called; else the program's name")},
      {"OTEL_RESOURCE_ATTRIBUTES", text("otel-resource-attributes", "name=value,… about this service")},
      {"OTEL_TRACES_SAMPLER", choice("otel-traces-sampler",
                                     {"always_on", "always_off", "traceidratio", "parentbased_always_on",
                                      "parentbased_always_off", "parentbased_traceidratio"},
                                     "which traces are recorded", "parentbased_always_on")},
      {"OTEL_TRACES_SAMPLER_ARG", text("otel-traces-sampler-arg", "of traceidratio: 0 to 1")},
      {"OTEL_EXCLUDED_URLS",
       text("otel-excluded-urls", "regular expressions between commas: URLs that are not traced")},
      {"OTEL_PYTHON_EXCLUDED_URLS", text("otel-python-excluded-urls", "the same, as other SDKs call it")},
      {"OTEL_LOG_LEVEL",
       text("otel-log-level", "the lowest level of log lines that are sent: debug, info, warn, error or none", "info")},
      {"OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED",
       flag("otel-logging", "false: no log lines are sent", "true")},
      {"OTEL_BSP_SCHEDULE_DELAY", integer("otel-span-delay", "spans wait so long for others, in ms", "5000", 1, hour)},
      {"OTEL_BSP_MAX_QUEUE_SIZE", integer("otel-span-queue", "spans beyond it are dropped", "2048", 1, 1'000'000)},
      {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", integer("otel-span-batch", "spans in one request", "512", 1, 100'000)},
      {"OTEL_BSP_EXPORT_TIMEOUT",
       integer("otel-span-timeout", "for a batch with its repetitions, in ms", "30000", 1, hour)},
      {"OTEL_BLRP_SCHEDULE_DELAY", integer("otel-log-delay", "the same of log lines", "1000", 1, hour)},
      {"OTEL_BLRP_MAX_QUEUE_SIZE", integer("otel-log-queue", "", "2048", 1, 1'000'000)},
      {"OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", integer("otel-log-batch", "", "512", 1, 100'000)},
      {"OTEL_BLRP_EXPORT_TIMEOUT", integer("otel-log-timeout", "", "30000", 1, hour)},
      {"OTEL_METRIC_EXPORT_INTERVAL",
       integer("otel-metric-interval", "metrics are sent every so many ms", "60000", 1, 24 * hour)},
      {"OTEL_METRIC_EXPORT_TIMEOUT", integer("otel-metric-timeout", "for one of those, in ms", "30000", 1, hour)},
  };
  std::vector<settings::Setting> out;
  for (const auto& [variable, setting] : by_variables)
    append(out, "Telemetry (OpenTelemetry over HTTP)", {by_variable(variable, setting)});
  return out;
}

}  // namespace stackgate::telemetry
