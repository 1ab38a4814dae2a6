#include "services/kit/telemetry/options.hpp"

namespace stackgate::telemetry {

using settings::Kind;
using settings::Setting;

std::vector<Setting> telemetry_settings() {
  static constexpr std::string_view group = "Telemetry (OpenTelemetry over HTTP)";
  const auto exporter = [](std::string_view name, std::string_view variable, std::string_view help) {
    return Setting{.name = name,
                   .kind = Kind::choice,
                   .help = help,
                   .fallback = "otlp",
                   .variable = variable,
                   .group = group,
                   .choices = {"otlp", "console", "none"}};
  };
  const auto text = [](std::string_view name, std::string_view variable, std::string_view help,
                       Kind kind = Kind::text) {
    return Setting{.name = name, .kind = kind, .help = help, .variable = variable, .group = group};
  };
  const auto number = [](std::string_view name, std::string_view variable, std::string_view help,
                         std::string_view fallback, std::int64_t at_most) {
    return Setting{.name = name,
                   .kind = Kind::integer,
                   .help = help,
                   .fallback = fallback,
                   .variable = variable,
                   .group = group,
                   .at_least = 1,
                   .at_most = at_most};
  };
  constexpr std::int64_t hour = 3'600'000;  // ms
  return {
      {.name = "otel-sdk-disabled",
       .kind = Kind::flag,
       .help = "send nothing; traceparent is still passed on",
       .fallback = "false",
       .variable = "OTEL_SDK_DISABLED",
       .group = group},
      text("otel-endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT",
           "the collector, such as http://collector:4318; without it otlp exporters are off", Kind::url),
      text("otel-traces-endpoint", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "whole URL for traces", Kind::url),
      text("otel-metrics-endpoint", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "whole URL for metrics", Kind::url),
      text("otel-logs-endpoint", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "whole URL for logs", Kind::url),
      exporter("otel-traces-exporter", "OTEL_TRACES_EXPORTER", "where spans of requests go"),
      exporter("otel-metrics-exporter", "OTEL_METRICS_EXPORTER", "where metrics go, besides /metrics"),
      exporter("otel-logs-exporter", "OTEL_LOGS_EXPORTER", "where log lines go, besides stderr"),
      {.name = "otel-protocol",
       .kind = Kind::choice,
       .help = "gRPC is not spoken",
       .fallback = "http/protobuf",
       .variable = "OTEL_EXPORTER_OTLP_PROTOCOL",
       .group = group,
       .choices = {"http/protobuf", "http/json"}},
      {.name = "otel-compression",
       .kind = Kind::choice,
       .help = "of bodies over 1 KiB",
       .fallback = "gzip",
       .variable = "OTEL_EXPORTER_OTLP_COMPRESSION",
       .group = group,
       .choices = {"gzip", "none"}},
      text("otel-headers", "OTEL_EXPORTER_OTLP_HEADERS", "name=value,… for the collector", Kind::secret),
      number("otel-timeout", "OTEL_EXPORTER_OTLP_TIMEOUT", "for one request, in ms", "10000", hour),
      text("otel-ca-file", "OTEL_EXPORTER_OTLP_CERTIFICATE", "certificates to trust, PEM; the system's without it"),
      text("otel-service-name", "OTEL_SERVICE_NAME", "what this service is called; else the program's name"),
      text("otel-resource-attributes", "OTEL_RESOURCE_ATTRIBUTES", "name=value,… about this service"),
      {.name = "otel-traces-sampler",
       .kind = Kind::choice,
       .help = "which traces are recorded",
       .fallback = "parentbased_always_on",
       .variable = "OTEL_TRACES_SAMPLER",
       .group = group,
       .choices = {"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off",
                   "parentbased_traceidratio"}},
      text("otel-traces-sampler-arg", "OTEL_TRACES_SAMPLER_ARG", "of traceidratio: 0 to 1"),
      text("otel-excluded-urls", "OTEL_EXCLUDED_URLS", "regular expressions between commas: URLs that are not traced"),
      text("otel-python-excluded-urls", "OTEL_PYTHON_EXCLUDED_URLS", "the same, as other SDKs call it"),
      {.name = "otel-log-level",
       .help = "the lowest level of log lines that are sent: debug, info, warn, error or none",
       .fallback = "info",
       .variable = "OTEL_LOG_LEVEL",
       .group = group},
      {.name = "otel-logging",
       .kind = Kind::flag,
       .help = "false: no log lines are sent",
       .fallback = "true",
       .variable = "OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED",
       .group = group},
      number("otel-span-delay", "OTEL_BSP_SCHEDULE_DELAY", "spans wait so long for others, in ms", "5000", hour),
      number("otel-span-queue", "OTEL_BSP_MAX_QUEUE_SIZE", "spans beyond it are dropped", "2048", 1'000'000),
      number("otel-span-batch", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "spans in one request", "512", 100'000),
      number("otel-span-timeout", "OTEL_BSP_EXPORT_TIMEOUT", "for a batch with its repetitions, in ms", "30000", hour),
      number("otel-log-delay", "OTEL_BLRP_SCHEDULE_DELAY", "the same of log lines", "1000", hour),
      number("otel-log-queue", "OTEL_BLRP_MAX_QUEUE_SIZE", "", "2048", 1'000'000),
      number("otel-log-batch", "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "", "512", 100'000),
      number("otel-log-timeout", "OTEL_BLRP_EXPORT_TIMEOUT", "", "30000", hour),
      number("otel-metric-interval", "OTEL_METRIC_EXPORT_INTERVAL", "metrics are sent every so many ms", "60000",
             24 * hour),
      number("otel-metric-timeout", "OTEL_METRIC_EXPORT_TIMEOUT", "for one of those, in ms", "30000", hour),
  };
}

}  // namespace stackgate::telemetry
