#include "reconcile/plan/parts/optional_api.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stackgate::reconcile::parts {

void note_missing_api(const Scope& scope, std::string_view field, ChildType type, std::string_view product) {
  const std::string message = fmt::format("spec.{} asks for the {} {}, which this cluster does not know; install {}",
                                          field, info(type).api_version, info(type).kind, product);
  auto& conditions = scope.planning.plan.status.conditions;
  const auto found = std::ranges::find(conditions, optional_apis_condition, &Condition::type);
  if (found == conditions.end())
    conditions.push_back({std::string(optional_apis_condition), "False", "NotInstalled", message});
  else
    found->message += "; " + message;
}

}  // namespace stackgate::reconcile::parts
