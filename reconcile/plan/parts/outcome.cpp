#include "reconcile/plan/parts/outcome.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reconcile/plan/findings.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::reconcile::parts {

Ownership ownership(const Scope& scope, const LiveChild& live) {
  const Resource& resource = scope.planning.resource;
  return live.owned ? Ownership::own : ownership_of(*live.object, resource.kind, resource.name, resource.uid);
}

const json::Value* own_live(const Scope& scope, ChildType type, std::string_view name) {
  const LiveChild* live = scope.planning.observed.find(type, name);
  if (live == nullptr) return nullptr;
  const Ownership whose = ownership(scope, *live);
  return whose == Ownership::own || whose == Ownership::orphan ? live->object : nullptr;
}

std::vector<Problem> taken_names(const Scope& scope) {
  std::vector<Problem> out;
  for (const DesiredChild& child : scope.planning.plan.children) {
    if (child.type == ChildType::persistent_volume_claim) continue;  // users' data, often older than its resource
    const LiveChild* live = scope.planning.observed.find(child.type, child.name);
    if (live == nullptr) continue;
    const std::string_view kind = info(child.type).kind;
    switch (ownership(scope, *live)) {
      case Ownership::own:
      case Ownership::orphan:
        break;
      case Ownership::left_over:
        out.push_back({"WaitingForDeletion",
                       fmt::format("the {} \"{}\" of a deleted resource of this name is still there; the cluster's "
                                   "garbage collector removes it, and a new one is made then",
                                   kind, child.name),
                       false});
        break;
      case Ownership::foreign:
        out.push_back(name_taken(kind, child.name));
    }
  }
  return out;
}

std::vector<Problem> claim_problems(const Scope& scope, const std::vector<std::string>& claims) {
  std::vector<Problem> out;
  const auto& children = scope.planning.plan.children;
  for (auto claim = claims.begin(); claim != claims.end(); ++claim) {
    if (std::find(claims.begin(), claim, *claim) != claim) continue;
    const LiveChild* live = scope.planning.observed.find(ChildType::persistent_volume_claim, *claim);
    const bool planned = std::ranges::any_of(children, [&](const DesiredChild& child) {
      return child.type == ChildType::persistent_volume_claim && child.name == *claim;
    });
    if (live == nullptr && planned) continue;  // it is about to be made
    if (auto problem = claim_problem(live == nullptr ? nullptr : live->object, *claim)) out.push_back(*problem);
  }
  return out;
}

void conclude(const Scope& scope, Outcome outcome) {
  const std::string_view name = outcome.name.empty() ? std::string_view(scope.name) : std::string_view(outcome.name);
  for (const Problem& each : scope.problems) outcome.blockers.push_back(each);
  for (Problem& each : input_problems(scope.planning.observed)) outcome.blockers.push_back(std::move(each));
  for (Problem& each : taken_names(scope)) outcome.blockers.push_back(std::move(each));
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
