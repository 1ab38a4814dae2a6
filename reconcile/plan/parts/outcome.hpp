// From what was planned and is observed to the status of a resource that runs a server.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconcile/ownership.hpp"
#include "reconcile/plan/parts/scope.hpp"
#include "reconcile/status/workload.hpp"

namespace stackgate::reconcile::parts {

struct Outcome {
  ChildType type = ChildType::deployment;  // what runs the pods
  std::string name = {};                   // its name; that of the resource when empty
  /// Nothing under an autoscaler.
  std::optional<std::int64_t> wanted = 1;
  /// What the kind itself knows to stand in the way. Names that are taken are added.
  std::vector<Problem> blockers = {};
};

Ownership ownership(const Scope& scope, const LiveChild& live);

/// The object when it lives and is the resource's own, or will be in a moment: an orphan is taken back. Or nullptr.
const json::Value* own_live(const Scope& scope, ChildType type, std::string_view name);

/// Planned children whose names belong to somebody else's objects.
std::vector<Problem> taken_names(const Scope& scope);

/// A problem for each claim that the pods mount and that is missing, lost or pending. `claims` may repeat a name.
std::vector<Problem> claim_problems(const Scope& scope, const std::vector<std::string>& claims);

/// Fills plan.status; call it last. Conditions that are there already stay, behind Ready.
void conclude(const Scope& scope, Outcome outcome);

}  // namespace stackgate::reconcile::parts
