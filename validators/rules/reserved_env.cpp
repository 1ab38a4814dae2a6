#include "validators/rules/reserved_env.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace stackgate::validate {
namespace {

enum class Setter : std::uint8_t { inference, multi_node, otel, stack, datastore, entitystore, guardrail };

struct ReservedVariable {
  std::string_view name;
  Setter setter;
  std::string_view from;  // the field to use instead
};

/// Why each is here: the operator writes the variable whenever its setter applies, from the field beside it.
constexpr std::array reserved_variables{
    ReservedVariable{"REGISTRY_API_KEY", Setter::inference, "authSecret"},
    ReservedVariable{"LWS_LEADER_ADDRESS", Setter::multi_node, "multiNode"},
    ReservedVariable{"LWS_GROUP_SIZE", Setter::multi_node, "multiNode.size"},
    ReservedVariable{"LWS_WORKER_INDEX", Setter::multi_node, "multiNode"},
    ReservedVariable{"OTEL_EXPORTER_OTLP_ENDPOINT", Setter::otel, "otel.exporterOtlpEndpoint"},
    ReservedVariable{"OTEL_TRACES_EXPORTER", Setter::otel, "otel.exporterConfig.tracesExporter"},
    ReservedVariable{"OTEL_METRICS_EXPORTER", Setter::otel, "otel.exporterConfig.metricsExporter"},
    ReservedVariable{"OTEL_LOGS_EXPORTER", Setter::otel, "otel.exporterConfig.logsExporter"},
    ReservedVariable{"OTEL_LOG_LEVEL", Setter::otel, "otel.logLevel"},
    ReservedVariable{"STACKGATE_LISTEN", Setter::stack, "expose.service.port"},
    ReservedVariable{"STACKGATE_DATABASE_URL", Setter::stack, "databaseConfig"},
    ReservedVariable{"STACKGATE_DATABASE_PASSWORD_FILE", Setter::stack, "databaseConfig.credentials"},
    ReservedVariable{"GIT_ADMIN_USERNAME", Setter::datastore, "secrets.gitAdminSecret"},
    ReservedVariable{"GIT_ADMIN_PASSWORD", Setter::datastore, "secrets.gitAdminSecret"},
    ReservedVariable{"S3_ACCESS_KEY", Setter::datastore, "objectStoreConfig.credentials"},
    ReservedVariable{"S3_SECRET_KEY", Setter::datastore, "objectStoreConfig.credentials"},
    ReservedVariable{"STACKGATE_DATASTORE_URL", Setter::entitystore, "datastore.endpoint"},
    ReservedVariable{"INFERENCE_ENDPOINT_API_KEY", Setter::guardrail, "nimEndpoint.apiKeySecret"},
};

bool applies(Setter setter, const Context& context, const Field& spec, bool stack) {
  switch (setter) {
    case Setter::inference:
      return !stack;
    case Setter::multi_node:
      return !stack && spec["multiNode"].present();
    case Setter::otel:
      return spec["otel"]["enabled"].flag().value_or(false);
    case Setter::stack:
      return stack;
    case Setter::datastore:
      return context.request.kind == crds::Kind::stack_datastore;
    case Setter::entitystore:
      return context.request.kind == crds::Kind::stack_entitystore;
    case Setter::guardrail:
      return context.request.kind == crds::Kind::stack_guardrail;
  }
  return false;
}

/// A cheap test that most names fail: all reserved ones are longer than ten characters and begin with one of these.
bool may_be_reserved(std::string_view name) {
  return name.size() > 10 && std::string_view("RLOSGI").find(name.front()) != std::string_view::npos &&
         name.find('_') != std::string_view::npos;
}

}  // namespace

void check_reserved_name(Context& context, const Field& name, const Field& spec, bool stack) {
  const auto text = name.text();
  if (!text || !may_be_reserved(*text)) return;
  const auto found = std::ranges::find(reserved_variables, *text, &ReservedVariable::name);
  if (found == reserved_variables.end() || !applies(found->setter, context, spec, stack)) return;
  context.report(rule::env_reserved, name, "the operator sets this variable itself",
                 fmt::format("take it out; it comes from {}", found->from));
}

void check_reserved_env(Context& context, const Field& spec, bool stack) {
  const Field env = spec["env"];
  if (env.absent()) return;
  std::size_t index = 0;
  for (const json::Value& item : env.value()->items()) {
    const std::size_t at = index++;
    const json::Value* name = item.find("name");
    if (name == nullptr || !may_be_reserved(name->string())) continue;
    check_reserved_name(context, env.at(at)["name"], spec, stack);
  }
}

}  // namespace stackgate::validate
