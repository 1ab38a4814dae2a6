// The adapter variables of an inference server (specification: INF_PEFT_SOURCE and its three companions).
#include <array>
#include <optional>

#include <fmt/format.h>

#include "services/kit/findings/nearest.hpp"
#include "services/kit/grammar/integer_text.hpp"
#include "services/kit/grammar/url.hpp"
#include "services/kit/schema/check.hpp"
#include "validators/rules/inference/service.hpp"

namespace stackgate::validate {
namespace {

constexpr std::array<std::string_view, 4> adapter_names{"INF_PEFT_SOURCE", "INF_PEFT_REFRESH_INTERVAL",
                                                        "INF_MAX_CPU_LORAS", "INF_MAX_GPU_LORAS"};
enum AdapterVariable : std::size_t { source, refresh, cpu, gpu };

/// A variable whose value the pod gets from elsewhere (valueFrom) is there, but has no value to check.
struct Written {
  std::optional<Field> item;
  bool here() const { return item.has_value(); }
  Field value() const { return (*item)["value"]; }
  bool literal() const { return here() && (*item)["valueFrom"].absent(); }
};

std::array<Written, 4> find_adapters(Context& context, const Field& env) {
  std::array<Written, 4> found;
  if (env.absent()) return found;
  std::size_t index = 0;
  for (const json::Value& item : env.value()->items()) {
    const std::size_t at = index++;
    const json::Value* name = item.find("name");
    if (name == nullptr || !name->string().starts_with("INF_")) continue;
    std::size_t which = 0;
    while (which < adapter_names.size() && adapter_names[which] != name->string()) ++which;
    if (which < adapter_names.size()) {
      if (!found[which].here()) found[which].item = env.at(at);
      continue;
    }
    const std::string_view near = nearest(name->string(), adapter_names);
    if (!near.empty())
      context.report(rule::adapter_variable_unknown, env.at(at)["name"], "is no variable that the server reads",
                     fmt::format("did you mean {}?", near));
  }
  return found;
}

std::optional<std::int64_t> positive_number(Context& context, const Rule& rule, const Written& variable,
                                            std::string_view name, std::string_view cure) {
  if (!variable.literal()) return std::nullopt;
  const Field value = variable.value();
  auto number = grammar::parse_positive_integer(value.text().value_or(""));
  if (number) return *number;
  // An environment value is never quoted; this one is a number or nothing, so the problem may say it.
  context.report(rule, value, fmt::format("{}: {}", name, number.error().problem), std::string(cure));
  return std::nullopt;
}

void check_source_url(Context& context, const Written& variable) {
  if (!variable.literal()) return;
  const Field value = variable.value();
  const std::string_view text = value.text().value_or("");
  auto http = grammar::parse_http_url(text);
  if (http) return;
  if (const auto url = grammar::parse_url(text); url && url->has_user_info)
    context.report(rule::url_user_info, value,
                   "the URL carries a user or password, which everyone who may read this sees",
                   "take out what stands before the @ and keep it in a Secret");
  else
    context.report(rule::adapter_source, value, fmt::format("INF_PEFT_SOURCE: {}", http.error().problem),
                   "write the entitystore's URL, for example http://entitystore:8000");
}

void check_partial(Context& context, const std::array<Written, 4>& found) {
  if (found[source].here() && !found[refresh].here())
    context.report(rule::adapter_variables_partial, *found[source].item,
                   "adapters are loaded once: INF_PEFT_REFRESH_INTERVAL is not set",
                   "add INF_PEFT_REFRESH_INTERVAL with a number of seconds, for example \"60\"");
  for (const AdapterVariable each : {refresh, cpu, gpu}) {
    if (!found[each].here() || found[source].here()) continue;
    context.report(rule::adapter_variables_partial, *found[each].item,
                   fmt::format("{} does nothing without INF_PEFT_SOURCE", adapter_names[each]),
                   "add INF_PEFT_SOURCE with the entitystore's URL");
    return;
  }
  if (found[source].here() && found[cpu].here() != found[gpu].here()) {
    const AdapterVariable there = found[cpu].here() ? cpu : gpu;
    context.report(
        rule::adapter_variables_partial, *found[there].item,
        fmt::format("{} is set, but {} is not", adapter_names[there], adapter_names[there == cpu ? gpu : cpu]),
        "set both, so that the two caches fit each other");
  }
}

}  // namespace

void check_adapters(Context& context, const Field& env) {
  const auto found = find_adapters(context, env);
  if (!found[source].here() && !found[refresh].here() && !found[cpu].here() && !found[gpu].here()) return;
  check_source_url(context, found[source]);
  positive_number(context, rule::adapter_refresh_interval, found[refresh], adapter_names[refresh],
                  "write a number of seconds without a unit, for example \"60\"");
  constexpr std::string_view count = "write a number of adapters, for example \"8\"";
  const auto most_cpu = positive_number(context, rule::adapter_limits, found[cpu], adapter_names[cpu], count);
  const auto most_gpu = positive_number(context, rule::adapter_limits, found[gpu], adapter_names[gpu], count);
  if (most_cpu && most_gpu && *most_gpu > *most_cpu)
    context.report(
        rule::adapter_limits, found[gpu].value(),
        fmt::format("INF_MAX_GPU_LORAS {} is above INF_MAX_CPU_LORAS {}: what is on a GPU is in CPU memory too",
                    *most_gpu, *most_cpu),
        fmt::format("write at most {}, or raise INF_MAX_CPU_LORAS", *most_cpu));
  check_partial(context, found);
}

}  // namespace stackgate::validate
