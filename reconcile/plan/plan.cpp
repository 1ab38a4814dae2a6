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
  plan.status.conditions.push_back({"Ready", "False", "Invalid", tell(observed.findings)});
}

/// What takes its course is no news; nor is what the stored status says already.
bool is_news(const Condition& condition, State state, const json::Value* stored) {
  constexpr std::string_view usual[] = {"Creating",    "Starting",    "RollingOut",
                                        "ScalingDown", "Terminating", "NotObserved"};
  if (condition.status == "True" || std::ranges::find(usual, condition.reason) != std::end(usual)) return false;
  const json::Value* conditions = stored == nullptr ? nullptr : stored->find("conditions");
  if (conditions == nullptr) return true;
  const auto text = [](const json::Value& from, std::string_view key) {
    const json::Value* found = from.find(key);
    return found == nullptr ? std::string_view{} : found->string();
  };
  return std::ranges::none_of(conditions->items(), [&](const json::Value& each) {
    return text(each, "type") == condition.type && text(each, "reason") == condition.reason &&
           (state != State::failed || text(each, "message") == condition.message);
  });
}

/// An event for each condition that turned bad, so that `kubectl describe` shows it; a settled resource makes none.
void add_events(const Resource& resource, Plan& plan) {
  for (const Condition& condition : plan.status.conditions)
    if (is_news(condition, plan.status.state, resource.status))
      plan.events.push_back({true, condition.reason, condition.message});
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
    add_events(resource, plan);
    return plan;
  }
  plan_kind({resource, observed, settings, plan});
  std::ranges::stable_sort(plan.children, {}, &DesiredChild::type);
  add_events(resource, plan);
  return plan;
}

}  // namespace stackgate::reconcile
