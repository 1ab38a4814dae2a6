#include "reconcile/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include "reconcile/plan/findings.hpp"
#include "reconcile/plan/kinds.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::reconcile {
namespace {

/// False when the rules find no fault of the resource itself.
bool refuse(const Observed& observed, Plan& plan) {
  std::string faults = faults_in_words(observed.findings);
  if (faults.empty()) return false;
  plan.acts = false;
  plan.status.state = State::failed;
  plan.status.conditions.push_back({"Ready", "False", "Invalid", std::move(faults)});
  return true;
}

/// What takes its course, and what others report themselves (the services of a pipeline): no event.
constexpr std::string_view progress[] = {
    "Creating",     "Starting",    "RollingOut",         "ReplicasNotReady",     "ScalingDown",
    "Terminating",  "NotObserved", "WaitingForDeletion", "NamespaceTerminating", "ClaimTerminating",
    "ClaimCreated", "Downloading", "CacheNotReady",      "ServicesNotReady",     "DependencyNotReady",
};
/// What waits for somebody else's work as it mostly has to, but may wait for ever: a normal event.
constexpr std::string_view waits[] = {"ClaimPending", "SchedulingGated", "Suspended"};

bool is_one_of(std::span<const std::string_view> reasons, std::string_view reason) {
  return std::ranges::find(reasons, reason) != reasons.end();
}

/// Not what the stored status says already.
bool is_news(const Condition& condition, State state, const json::Value* stored) {
  if (condition.status == "True" || is_one_of(progress, condition.reason)) return false;
  const json::Value* held = condition_in(stored, condition.type);
  return json::text(held, {"reason"}) != condition.reason ||
         (state == State::failed && json::text(held, {"message"}) != condition.message);
}

/// An event for each condition that turned bad, so that `kubectl describe` shows it; a settled resource makes none.
/// What a resource waits for comes late: Secrets often come with it or just after it, and are seen a moment late. Only
/// what serves has lost something.
void add_events(const Resource& resource, Plan& plan) {
  const Status& status = plan.status;
  const auto missing = std::ranges::find(status.conditions, references_condition, &Condition::type);
  const bool waits_for_it = missing != status.conditions.end() && status.state != State::ready;
  for (const Condition& condition : status.conditions) {
    if (waits_for_it && condition.reason == missing->reason) continue;
    if (is_news(condition, status.state, resource.status))
      plan.events.push_back({!is_one_of(waits, condition.reason), condition.reason, condition.message});
  }
  if (waits_for_it) plan.late_events.push_back({true, missing->reason, missing->message});
}

/// By crds::Kind.
constexpr std::array plans{plan_inference_service, plan_inference_cache,   plan_inference_pipeline,
                           plan_stack_datastore,   plan_stack_entitystore, plan_stack_customizer,
                           plan_stack_evaluator,   plan_stack_guardrail};

}  // namespace

ChildBody::ChildBody(std::string json) {
  auto data = std::make_shared<Data>();
  data->text = std::move(json);
  if (const auto parsed = json::parse(data->text, data->document); !parsed)
    throw std::logic_error("a planned child is no JSON: " + parsed.error().message);
  data_ = std::move(data);
}

Plan make_plan(const Resource& resource, const Observed& observed, const Settings& settings) {
  Plan plan;
  if (resource.deleting) {
    plan.acts = false;
    return plan;
  }
  if (!refuse(observed, plan)) plans[static_cast<std::size_t>(resource.kind)]({resource, observed, settings, plan});
  std::ranges::stable_sort(plan.children, {}, &DesiredChild::type);
  if (auto missing = unresolved_references(observed)) plan.status.conditions.push_back(*std::move(missing));
  add_events(resource, plan);
  return plan;
}

}  // namespace stackgate::reconcile
