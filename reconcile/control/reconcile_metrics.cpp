#include "reconcile/control/reconcile_metrics.hpp"

#include <string_view>

#include "reconcile/status/status.hpp"

namespace stackgate::reconcile {
namespace {

/// The specification's names, by crds::Kind.
constexpr std::array<std::string_view, 8> gauge_names{"inferenceService_status_total",  "inferenceCache_status_total",
                                                      "inferencePipeline_status_total", "stack_datastore_status_total",
                                                      "stack_entitystore_status_total", "stack_customizer_status_total",
                                                      "stack_evaluator_status_total",   "stack_guardrail_status_total"};

/// By Pass::Result.
constexpr std::array<std::string_view, 3> result_words{"settled", "status_waits", "try_again"};

}  // namespace

ReconcileMetrics::ReconcileMetrics(metrics::Registry& registry)
    : passes_(registry.counter("stackgate_reconcile_passes_total", "Looks at a resource, by kind and result.",
                               {"kind", "result"})),
      errors_(
          registry.counter("stackgate_reconcile_errors_total", "Passes that failed and are tried again.", {"kind"})),
      writes_(registry.counter("stackgate_reconcile_writes_total", "Writes that the API server took.", {"kind"})),
      repairs_(registry.counter("stackgate_drift_repairs_total",
                                "Children put back after somebody else had changed or deleted them.", {"kind"})),
      seconds_(
          registry.histogram("stackgate_reconcile_seconds", "Duration of a pass, its writes included.", {"kind"})) {
  for (std::size_t i = 0; i < states_.size(); ++i)
    states_[i] = &registry.gauge(gauge_names[i], "Resources of this kind in each state.", {"status"});
  for (const crds::KindInfo& each : crds::kinds) {
    for (const std::string_view result : result_words) passes_.at({each.name, result});
    errors_.at({each.name});
    writes_.at({each.name});
    repairs_.at({each.name});
  }
}

void ReconcileMetrics::observe(crds::Kind kind, const Pass& pass, std::chrono::steady_clock::duration took) {
  const std::string_view name = crds::info(kind).name;
  const bool failed = pass.result == Pass::Result::try_again;
  passes_.at({name, result_words[static_cast<std::size_t>(pass.result)]}).add();
  if (failed && pass.waiting == Pass::Waiting::no) errors_.at({name}).add();
  if (pass.writes > 0) writes_.at({name}).add(pass.writes);
  if (pass.repairs > 0) repairs_.at({name}).add(pass.repairs);
  seconds_.at({name}).observe(std::chrono::duration<double>(took).count());
}

void ReconcileMetrics::count_states(const Store& store) {
  for (const crds::KindInfo& each : crds::kinds) {
    const auto counts = store.states(each.kind);
    std::size_t known = 0, all = 0;
    for (const auto& [state, count] : counts) all += count;
    metrics::Family<metrics::Gauge>& gauge = *states_[static_cast<std::size_t>(each.kind)];
    for (const State state : states_of(each.kind)) {
      if (state == State::unknown) continue;
      const auto found = counts.find(std::string(to_string(state)));
      const std::size_t count = found == counts.end() ? 0 : found->second;
      known += count;
      gauge.at({to_string(state)}).set(static_cast<double>(count));
    }
    gauge.at({to_string(State::unknown)}).set(static_cast<double>(all - known));
  }
}

}  // namespace stackgate::reconcile
