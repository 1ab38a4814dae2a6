#include "reconcile/plan/parts/outcome.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reconcile/labels.hpp"
#include "reconcile/plan/findings.hpp"
#include "reconcile/status/read.hpp"

namespace stackgate::reconcile::parts {

const json::Value* own_live(const Scope& scope, ChildType type, std::string_view name) {
  const LiveChild* live = scope.planning.observed.find(type, name);
  return live != nullptr && live->owned ? live->object : nullptr;
}

namespace {

/// Made by the operator for a resource of this name that was deleted; the cluster has not removed it yet.
bool is_left_over(const Scope& scope, const json::Value& object) {
  return read::text(&object, {"metadata", "labels", managed_by_label}) == managed_by &&
         read::text(&object, {"metadata", "labels", instance_label}) == scope.name &&
         read::text(&object, {"metadata", "labels", component_label}) == scope.component;
}

}  // namespace

std::vector<Trouble> taken_names(const Scope& scope) {
  std::vector<Trouble> out;
  for (const DesiredChild& child : scope.planning.plan.children) {
    if (child.type == ChildType::persistent_volume_claim) continue;  // users' data, often older than its resource
    const LiveChild* live = scope.planning.observed.find(child.type, child.name);
    if (live == nullptr || live->owned) continue;
    const std::string_view kind = info(child.type).kind;
    if (is_left_over(scope, *live->object))
      out.push_back({"WaitingForDeletion",
                     fmt::format("the {} \"{}\" of a deleted resource of this name is still there", kind, child.name),
                     false});
    else
      out.push_back(name_taken(kind, child.name));
  }
  return out;
}

std::vector<Trouble> claim_troubles(const Scope& scope, const std::vector<std::string>& claims) {
  std::vector<Trouble> out;
  const auto& children = scope.planning.plan.children;
  for (auto claim = claims.begin(); claim != claims.end(); ++claim) {
    if (std::find(claims.begin(), claim, *claim) != claim) continue;
    const LiveChild* live = scope.planning.observed.find(ChildType::persistent_volume_claim, *claim);
    const bool planned = std::ranges::any_of(children, [&](const DesiredChild& child) {
      return child.type == ChildType::persistent_volume_claim && child.name == *claim;
    });
    if (live == nullptr && planned) continue;  // it is about to be made
    if (auto trouble = claim_trouble(live == nullptr ? nullptr : live->object, *claim)) out.push_back(*trouble);
  }
  return out;
}

void conclude(const Scope& scope, Outcome outcome) {
  const std::string_view name = outcome.name.empty() ? std::string_view(scope.name) : std::string_view(outcome.name);
  for (const Trouble& each : scope.troubles) outcome.blockers.push_back(each);
  for (Trouble& each : input_troubles(scope.planning.observed)) outcome.blockers.push_back(std::move(each));
  for (Trouble& each : taken_names(scope)) outcome.blockers.push_back(std::move(each));
  Status& status = scope.planning.plan.status;
  std::vector<Condition> others = std::move(status.conditions);
  status = workload_status({.object = own_live(scope, outcome.type, name),
                            .wanted = outcome.wanted,
                            .pods = scope.planning.observed.pods,
                            .blockers = outcome.blockers,
                            .acts = scope.planning.plan.acts,
                            .stored = scope.planning.resource.status});
  std::ranges::move(others, std::back_inserter(status.conditions));
}

}  // namespace stackgate::reconcile::parts
