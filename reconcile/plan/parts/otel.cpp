#include "reconcile/plan/parts/otel.hpp"

#include <string>

#include <fmt/format.h>

namespace stackgate::reconcile::parts {

std::vector<pods::EnvVar> otel_env(const Scope& scope) {
  const Field otel = scope.spec["otel"];
  if (!otel["enabled"].flag().value_or(false)) return {pods::env_value("OTEL_SDK_DISABLED", "true")};
  std::vector<pods::EnvVar> env;
  const auto put = [&env](std::string_view name, const Field& field) {
    if (const auto text = field.text(); text && !text->empty()) env.push_back(pods::env_text(name, *text));
  };
  put("OTEL_EXPORTER_OTLP_ENDPOINT", otel["exporterOtlpEndpoint"]);
  const Field exporters = otel["exporterConfig"];
  put("OTEL_TRACES_EXPORTER", exporters["tracesExporter"]);
  put("OTEL_METRICS_EXPORTER", exporters["metricsExporter"]);
  put("OTEL_LOGS_EXPORTER", exporters["logsExporter"]);
  put("OTEL_LOG_LEVEL", otel["logLevel"]);
  std::string urls;
  if (const json::Value* list = otel["excludedUrls"].effective())
    for (const json::Value& url : list->items()) {
      if (!urls.empty()) urls += ',';
      urls += url.string();
    }
  if (!urls.empty()) env.push_back(pods::env_text("OTEL_PYTHON_EXCLUDED_URLS", urls));
  const bool logging = !otel["disableLogging"].flag().value_or(false);
  env.push_back(pods::env_value("OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED", logging ? "true" : "false"));
  env.push_back(pods::env_value("OTEL_SERVICE_NAME", scope.name));
  const std::string_view ns = scope.planning.resource.ns;
  env.push_back(pods::env_value("OTEL_RESOURCE_ATTRIBUTES",
                                fmt::format("service.namespace={},deployment.environment={}", ns, ns)));
  return env;
}

}  // namespace stackgate::reconcile::parts
