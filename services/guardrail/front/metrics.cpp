#include "services/guardrail/front/metrics.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "services/guardrail/api/log.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::array<double, 12> own_bounds{0.0001, 0.00025, 0.0005, 0.001, 0.0015, 0.0025,
                                            0.005,  0.01,    0.025,  0.05,  0.1,    1};

/// Time in which at least one model was asked.
std::chrono::nanoseconds time_of_models(const TurnResult& result) {
  std::vector<std::pair<Moment, Moment>> calls;
  for (const ActivatedRail& rail : result.rails)
    for (const ExecutedAction& action : rail.actions)
      for (const ModelCall& call : action.model_calls) calls.emplace_back(call.began, call.ended);
  std::ranges::sort(calls);
  std::chrono::nanoseconds out{0};
  Moment until{0};
  for (const auto& [began, ended] : calls) {
    if (ended > std::max(began, until)) out += ended - std::max(began, until);
    until = std::max(until, ended);
  }
  return out;
}

std::string_view outcome_of(const TurnResult& result, const ActivatedRail& rail) {
  if (!rail.stop) return "passed";
  return result.error.empty() ? "blocked" : "failed";
}

}  // namespace

GuardrailMetrics::GuardrailMetrics(metrics::Registry& registry)
    : turns_(registry.counter("stackgate_guardrail_turns_total", "Turns by what became of them", {"outcome"})),
      rails_(registry.counter("stackgate_guardrail_rails_total", "Rails that ran", {"type", "rail", "outcome"})),
      rail_seconds_(registry.histogram("stackgate_guardrail_rail_seconds", "How long rails took, models included",
                                       {"type", "rail"})),
      own_seconds_(
          registry.histogram("stackgate_guardrail_own_seconds", "Turns without the time of models", {}, own_bounds)) {}

void GuardrailMetrics::turn(const TurnResult& result, std::chrono::duration<double> whole) {
  turns_.at({to_string(result.outcome)}).add();
  own_seconds_.at({}).observe(std::max(0.0, (whole - std::chrono::duration<double>(time_of_models(result))).count()));
  for (const ActivatedRail& rail : result.rails) {
    rails_.at({to_string(rail.type), rail.name, outcome_of(result, rail)}).add();
    rail_seconds_.at({to_string(rail.type), rail.name})
        .observe(std::chrono::duration<double>(rail.ended - rail.began).count());
  }
}

}  // namespace stackgate::guardrail
