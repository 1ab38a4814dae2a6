#include "services/customizer/runs/metrics.hpp"

#include <array>

namespace stackgate::customizer {
namespace metrics_detail {

constexpr std::array<double, 12> stage_bounds{0.5, 2, 10, 30, 120, 600, 1'800, 3'600, 14'400, 43'200, 86'400, 604'800};

}  // namespace metrics_detail

RunMetrics::RunMetrics(metrics::Registry& registry)
    : ended_(registry.counter("stackgate_customizer_customizations_total",
                              "Customizations that ended, by what became of them", {"state"})),
      stage_seconds_(registry.histogram("stackgate_customizer_stage_seconds",
                                        "How long stages ran, from their first attempt's begin to their end",
                                        {"stage", "state"}, metrics_detail::stage_bounds)),
      attempts_(registry.counter("stackgate_customizer_attempts_total", "Attempts at stages", {"stage"})),
      looks_(registry.counter("stackgate_customizer_looks_total", "Customizations looked at").at()),
      reports_(registry.counter("stackgate_customizer_reports_total", "Events that trainers posted", {"outcome"})),
      failures_(registry.counter("stackgate_customizer_failed_calls_total",
                                 "Calls that failed and are made again, by whom they asked", {"of"})) {}

void RunMetrics::show_open(metrics::Registry& registry, const Records& records) const {
  registry.gauges_from("stackgate_customizer_open", "Customizations that have not ended", {"state"}, [&records] {
    std::vector<metrics::Point> out;
    if (const auto open = records.open_states())
      for (const auto& [state, count] : *open)
        out.push_back({.labels = {std::string(to_string(state))}, .value = static_cast<double>(count)});
    return out;
  });
}

void RunMetrics::stepped(const Customization& before, const Customization& after) {
  for (const Stage each : all_stages) {
    const StageRecord &was = before.stage(each), &is = after.stage(each);
    if (is.attempts > was.attempts) attempts_.at({to_string(each)}).add(is.attempts - was.attempts);
    if (is_final(is.state) && !is_final(was.state) && is.started_at != 0)
      stage_seconds_.at({to_string(each), to_string(is.state)})
          .observe(static_cast<double>(is.ended_at - is.started_at));
  }
  if (is_final(after.state) && !is_final(before.state)) ended_.at({to_string(after.state)}).add();
}

}  // namespace stackgate::customizer
