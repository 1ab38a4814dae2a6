// What a customization takes of its namespace's ResourceQuotas. Pure and thread-safe.
// Source: https://kubernetes.io/docs/concepts/policy/resource-quotas/
#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/runs/cluster/first_attempts.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/grammar/quantity.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::customizer {

/// By the names that quotas have for them: "requests.cpu", "pods", "count/jobs.batch".
using QuotaAmounts = std::map<std::string, validate::grammar::Quantity, std::less<>>;

/// The pods of one Job, all alike.
struct PodNeeds {
  std::string_view stage{};
  QuotaAmounts amounts{};  // of all of them
  /// Of what quotas count, and containers do not state: their pods are refused, unless a LimitRange states it.
  std::set<std::string, std::less<>> unstated{};
  // By these, quotas with scopes choose.
  bool has_deadline = false, states_resources = false;
  std::string priority_class{};
};

struct QuotaNeeds {
  std::vector<PodNeeds> pods{};
  QuotaAmounts objects{};  // they stay until the customization is cleaned up: those of all stages
};

/// Of the pods alone, of the stage that takes most: one stage runs at a time.
QuotaAmounts most_of_pods(std::span<const PodNeeds> pods);

QuotaNeeds needs_of(std::span<const FirstObject> objects);

/// `quotas` is a ResourceQuotaList. Errors: more than the quota ever allows. Warnings: more than is free now, and what
/// a quota with scopes may not allow, where a LimitRange or a default PriorityClass decides whether it counts the pods.
validate::Findings judge_quotas(const json::Value& quotas, const QuotaNeeds& needs);

/// The most that a queue of Volcano takes in (spec.capability): an error for each resource of which it has less.
validate::Findings judge_capability(const json::Value& queue, std::string_view name, const QuotaNeeds& needs);

/// The most that a ClusterQueue of Kueue admits of one Job: a warning for each resource that it does not cover, an
/// error for each of which no flavor has enough, where it cannot borrow. Source:
/// https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/
validate::Findings judge_cluster_quota(const json::Value& queue, std::string_view name, const QuotaNeeds& needs);

}  // namespace stackgate::customizer
