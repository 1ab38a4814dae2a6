#include <unordered_set>

#include <fmt/format.h>

#include "services/kit/findings/nearest.hpp"
#include "services/kit/schema/check.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"
#include "validators/rules/inference/pipeline_graph.hpp"
#include "validators/rules/inference/service.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/references_ask.hpp"
#include "validators/rules/reserved.hpp"

namespace stackgate::validate {
namespace {

constexpr std::int64_t workload_port = 8000;
constexpr std::size_t most_services = 32;

void check_env_of_dependency(Context& context, const Field& spec, const Field& dependency,
                             std::unordered_set<std::string_view>& injected,
                             const std::unordered_set<std::string_view>& own) {
  const Field name = dependency["envName"];
  const Field value = dependency["envValue"];
  if (name.absent() && value.present())
    context.report(rule::pipeline_env_pair, name, "envValue has no variable to go into", "add envName");
  check_env_name(context, name);
  check_reserved_variable(context, name, spec);
  if (!name.text()) return;
  if (!injected.insert(*name.text()).second)
    context.report(rule::pipeline_env_conflict, name, "another dependency of this service sets the same variable",
                   "give each dependency a variable of its own");
  if (own.contains(*name.text()))
    context.report(rule::pipeline_env_conflict, name, "spec.env of this service sets the same variable",
                   "take it out of spec.env, or choose another name");
}

void check_port_of_dependency(Context& context, const PipelineEntry& target, const Field& dependency) {
  const Field port = dependency["port"];
  if (!port.integer() || port.absent()) return;
  const std::int64_t served = target.field["spec"]["expose"]["service"]["port"].integer().value_or(workload_port);
  if (*port.integer() != served)
    context.report(rule::pipeline_port_mismatch, port, fmt::format("\"{}\" listens on port {}", target.name, served),
                   fmt::format("write {}", served));
}

void check_entry(Context& context, const PipelineGraph& graph, const PipelineEntry& entry, std::string_view ns) {
  check_service_name(context, entry.field["name"]);
  check_reserved_names(context, entry.field["name"], entry.field["spec"], ns);
  check_inference_spec(context, entry.field["spec"], entry.name);
  const Field dependencies = entry.field["dependencies"];
  if (dependencies.absent()) return;
  std::unordered_set<std::string_view> injected;
  std::unordered_set<std::string_view> own;
  for (const Field item : entry.field["spec"]["env"].items())
    if (const auto name = item["name"].text()) own.insert(*name);
  for (const Field dependency : dependencies.items()) {
    check_env_of_dependency(context, entry.field["spec"], dependency, injected, own);
    const Field name = dependency["name"];
    if (!name.text()) continue;
    const PipelineEntry* target = graph.find(*name.text());
    if (*name.text() == entry.name) {
      context.report(rule::pipeline_dependency_unknown, name, "a service cannot depend on itself",
                     "take the dependency out");
    } else if (target == nullptr) {
      // Only among as many as the schema allows: the object may hold far more.
      const std::string_view near =
          graph.names().size() <= most_services ? nearest(*name.text(), graph.names()) : std::string_view{};
      context.report(rule::pipeline_dependency_unknown, name, "is no service of this pipeline",
                     near.empty() ? "name one of spec.services" : fmt::format("did you mean {}?", near));
    } else {
      if (entry.enabled && !target->enabled)
        context.report(rule::pipeline_dependency_disabled, name,
                       fmt::format("\"{}\" is needed here but disabled", target->name),
                       "write enabled: true there, or take the dependency out");
      check_port_of_dependency(context, *target, dependency);
    }
  }
}

}  // namespace

void check_inference_pipeline(Context& context, Field object) {
  const Field services = object["spec"]["services"];
  const PipelineGraph graph(services);
  const std::string_view ns = namespace_of(context, object);
  bool any_enabled = false;
  for (const PipelineEntry& entry : graph.entries()) {
    check_entry(context, graph, entry, ns);
    any_enabled = any_enabled || entry.enabled;
  }
  if (!any_enabled && !graph.entries().empty())
    context.report(rule::pipeline_all_disabled, services, "every service is disabled: the pipeline runs nothing",
                   "write enabled: true for at least one");
  for (const PipelineCycle& cycle : graph.cycles())
    context.report(rule::pipeline_cycle, cycle.at, fmt::format("the services wait for each other: {}", cycle.route),
                   "take one of these dependencies out");
}

}  // namespace stackgate::validate
