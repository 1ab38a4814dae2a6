// What a customization takes of its namespace's ResourceQuotas. Pure and thread-safe.
// Source: https://kubernetes.io/docs/concepts/policy/resource-quotas/
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "services/customizer/objects/plan.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/grammar/quantity.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::customizer {

/// By the names that quotas have for them: "requests.cpu", "pods", "count/jobs.batch". Pods: of the stage that takes
/// most, since one stage runs at a time. Objects stay until the customization is cleaned up: all of them.
struct QuotaNeeds {
  std::map<std::string, validate::grammar::Quantity, std::less<>> amounts{};
  /// Of what quotas count, and containers do not state: their pods are refused, unless a LimitRange states it.
  std::map<std::string, std::string_view, std::less<>> unstated{};  // → the stage

  friend bool operator==(const QuotaNeeds&, const QuotaNeeds&) = default;
};

/// What the first attempts of all stages make.
QuotaNeeds needs_of(const TrainingJob& job, const JobSetup& setup, const ContainerDefaults& defaults);

/// `quotas` is a ResourceQuotaList. Errors: more than the quota ever allows. Warnings: more than is free now. Quotas
/// with scopes are not judged: whether they count these pods depends on more than this.
validate::Findings judge_quotas(const json::Value& quotas, const QuotaNeeds& needs);

/// The most that a queue of Volcano takes in (spec.capability): an error for each resource of which it has less.
validate::Findings judge_capability(const json::Value& queue, std::string_view name, const QuotaNeeds& needs);

}  // namespace stackgate::customizer
