// One function per kind, each in its own file; make_plan() in plan.cpp calls the one that the resource needs, after it
// has dealt with what all kinds share (a resource that is leaving, or that the rules refuse).
#pragma once
#include "reconcile/plan/plan.hpp"

namespace stackgate::reconcile {

/// What a kind's function works with: it appends children and events to `plan` and fills its status.
struct Planning {
  const Resource& resource;
  const Observed& observed;
  const Settings& settings;
  Plan& plan;
};

void plan_inference_service(const Planning& planning);
void plan_inference_cache(const Planning& planning);
void plan_inference_pipeline(const Planning& planning);
void plan_stack_datastore(const Planning& planning);
void plan_stack_entitystore(const Planning& planning);
void plan_stack_customizer(const Planning& planning);
void plan_stack_evaluator(const Planning& planning);
void plan_stack_guardrail(const Planning& planning);

}  // namespace stackgate::reconcile
