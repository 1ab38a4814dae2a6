// databaseConfig, metrics and otel.
#include <fmt/format.h>

#include "services/kit/grammar/duration.hpp"
#include "services/kit/grammar/host.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"

namespace stackgate::validate {
namespace {

std::optional<grammar::Problem> database_host_problem(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return grammar::check_host(text);
  if (grammar::parse_ipv6(text)) return std::nullopt;
  if (text.starts_with('[') && text.ends_with(']') && grammar::parse_ipv6(text.substr(1, text.size() - 2)))
    return grammar::Problem{"is an address in brackets, which belong to URLs",
                            fmt::format("write \"{}\"", text.substr(1, text.size() - 2))};
  if (text.find("://") != std::string_view::npos)
    return grammar::Problem{"is a URL; the host stands here alone", "write the host here and the port under port"};
  if (const auto both = grammar::parse_host_port(text))
    return grammar::Problem{fmt::format("carries the port {}, which has its own field", both->port),
                            fmt::format("write host: {} and port: {}", both->host, both->port)};
  return grammar::check_host(text);
}

std::optional<std::chrono::milliseconds> checked_duration(Context& context, const Field& field) {
  if (field.absent() || !field.value()->is_string()) return std::nullopt;
  auto parsed = grammar::parse_prometheus_duration(field.value()->string());
  if (!parsed) {
    context.report(rule::duration, field, std::move(parsed.error().problem), std::move(parsed.error().fix));
    return std::nullopt;
  }
  return *parsed;
}

}  // namespace

void check_database(Context& context, Field database) {
  if (database.absent()) return;
  check_text(context, rule::database_host, database["host"], database_host_problem);
  const Field credentials = database["credentials"];
  check_object_name(context, credentials["secretName"]);
  check_secret_key(context, credentials["passwordKey"]);
}

void check_metrics(Context& context, Field metrics) {
  if (metrics.absent()) return;
  const Field monitor = metrics["serviceMonitor"];
  if (monitor.absent()) return;
  const Field labels = monitor["additionalLabels"];
  check_labels(context, labels);
  if (const Field own = labels["app.kubernetes.io/name"]; own.present())
    context.report(rule::label_reserved, own, "the operator sets this label itself", "take it out");
  check_annotations(context, monitor["annotations"]);
  const Field timeout = monitor["scrapeTimeout"];
  const auto interval = checked_duration(context, monitor["interval"]);
  const auto limit = checked_duration(context, timeout);
  if (interval && limit && interval->count() > 0 && *limit > *interval)
    context.report(rule::scrape_timeout_above_interval, timeout,
                   fmt::format("a scrape may take {}, longer than the interval of {}", *timeout.text(),
                               *monitor["interval"].text()),
                   fmt::format("write at most {}", *monitor["interval"].text()));
}

void check_otel(Context& context, Field otel) {
  if (otel.absent()) return;
  const Field endpoint = otel["exporterOtlpEndpoint"];
  check_endpoint(context, endpoint);
  if (!otel["enabled"].flag().value_or(false) || endpoint.present()) return;
  if (otel.has_misspelt("exporterOtlpEndpoint")) return;
  const Field exporters = otel["exporterConfig"];
  for (const char* signal : {"tracesExporter", "metricsExporter", "logsExporter"}) {
    if (exporters[signal].text() != "otlp") continue;
    context.report(rule::otel_endpoint_missing, endpoint,
                   fmt::format("{} is otlp, but there is no collector to send to", signal),
                   "add exporterOtlpEndpoint: http://<collector>:4318, or set the exporters to console or none");
    return;
  }
}

}  // namespace stackgate::validate
