#include <fmt/format.h>

#include "validators/rules/inference/service.hpp"

namespace stackgate::validate {
namespace {

// Where a probe does not say: as the operator sets them, 20 minutes for the start (specification, Limits).
constexpr std::int64_t default_period = 10, default_start_failures = 120, default_timeout = 1;
constexpr std::int64_t usual_start_seconds = 20 * 60;
constexpr std::int64_t long_start_seconds = 3 * usual_start_seconds;

std::string minutes(std::int64_t seconds) {
  if (seconds % 60 == 0) return fmt::format("{} minutes", seconds / 60);
  return seconds < 120 ? fmt::format("{} seconds", seconds)
                       : fmt::format("{:.1f} minutes", static_cast<double>(seconds) / 60);
}

void check_start_budget(Context& context, const Field& probe) {
  const Field delay = probe["initialDelaySeconds"], period = probe["periodSeconds"],
              failures = probe["failureThreshold"];
  if (delay.absent() && period.absent() && failures.absent()) return;
  if (delay.integer().value_or(0) < 0 || period.integer().value_or(1) < 1 || failures.integer().value_or(1) < 1)
    return;  // the schema says so
  const std::int64_t budget = delay.integer().value_or(0) + period.integer().value_or(default_period) *
                                                                failures.integer().value_or(default_start_failures);
  if (budget >= usual_start_seconds && budget <= long_start_seconds) return;
  const std::int64_t every = std::max<std::int64_t>(1, period.integer().value_or(default_period));
  context.report(
      rule::probe_startup_budget, failures.present() ? failures : probe,
      budget < usual_start_seconds
          ? fmt::format("the model has only {} to load before its pod is killed; 20 are usual", minutes(budget))
          : fmt::format("a server that never starts is noticed only after {}; 20 are usual", minutes(budget)),
      fmt::format("write failureThreshold: {} with periodSeconds: {}", (usual_start_seconds + every - 1) / every,
                  every));
}

void check_times(Context& context, const Field& probe) {
  const Field timeout = probe["timeoutSeconds"];
  const std::int64_t period = probe["periodSeconds"].integer().value_or(default_period);
  const std::int64_t longest = timeout.integer().value_or(default_timeout);
  if (period >= 1 && longest > period)
    context.report(rule::probe_timeout_above_period, timeout,
                   fmt::format("a try may take {} seconds, longer than the {} until the next", longest, period),
                   fmt::format("write at most {}, or a longer periodSeconds", period));
}

}  // namespace

void check_probes(Context& context, const Field& spec) {
  for (const char* which : {"startupProbe", "readinessProbe", "livenessProbe"}) {
    const Field probe = spec[which]["probe"];
    if (probe.absent()) continue;
    check_times(context, probe);
    // Kubernetes lets only a readiness probe ask for several successes in a row.
    const Field successes = probe["successThreshold"];
    if (which != std::string_view("readinessProbe") && successes.integer().value_or(1) > 1)
      context.report(rule::probe_success_threshold, successes, fmt::format("must be 1 in a {}", which),
                     "write 1, or leave it out");
  }
  check_start_budget(context, spec["startupProbe"]["probe"]);
}

}  // namespace stackgate::validate
