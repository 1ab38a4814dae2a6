#include "reconcile/plan/plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reconcile/plan/kinds.hpp"

namespace stackgate::reconcile {
namespace {

constexpr std::size_t most_findings_told = 10;

bool has_errors(std::span<const validate::Finding> findings) {
  return std::ranges::any_of(
      findings, [](const validate::Finding& finding) { return finding.severity == validate::Severity::error; });
}

/// One line per error, as the gate would have told it.
std::string tell(std::span<const validate::Finding> findings) {
  std::string out;
  std::size_t told = 0;
  std::size_t more = 0;
  for (const validate::Finding& finding : findings) {
    if (finding.severity != validate::Severity::error) continue;
    if (told == most_findings_told) {
      ++more;
      continue;
    }
    if (told++ > 0) out += '\n';
    out += finding.path.empty() ? validate::to_line(finding)
                                : fmt::format("{}: {}", finding.path, validate::to_line(finding));
  }
  if (more > 0) out += fmt::format("\nand {} more", more);
  return out;
}

void refuse(const Observed& observed, Plan& plan) {
  plan.acts = false;
  plan.status.state = State::failed;
  std::string message = tell(observed.findings);
  plan.status.conditions.push_back({"Ready", "False", "Invalid", message});
  plan.events.push_back({true, "Invalid", std::move(message)});
}

void plan_kind(const Planning& planning) {
  switch (planning.resource.kind) {
    case crds::Kind::inference_service:
      return plan_inference_service(planning);
    case crds::Kind::inference_cache:
      return plan_inference_cache(planning);
    case crds::Kind::inference_pipeline:
      return plan_inference_pipeline(planning);
    case crds::Kind::stack_datastore:
      return plan_stack_datastore(planning);
    case crds::Kind::stack_entitystore:
      return plan_stack_entitystore(planning);
    case crds::Kind::stack_customizer:
      return plan_stack_customizer(planning);
    case crds::Kind::stack_evaluator:
      return plan_stack_evaluator(planning);
    case crds::Kind::stack_guardrail:
      return plan_stack_guardrail(planning);
  }
}

}  // namespace

Plan make_plan(const Resource& resource, const Observed& observed, const Settings& settings) {
  Plan plan;
  if (resource.deleting) {
    plan.acts = false;
    return plan;
  }
  if (has_errors(observed.findings)) {
    refuse(observed, plan);
    return plan;
  }
  plan_kind({resource, observed, settings, plan});
  std::ranges::stable_sort(plan.children, {}, &DesiredChild::type);
  return plan;
}

}  // namespace stackgate::reconcile
