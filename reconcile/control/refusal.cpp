#include "reconcile/control/refusal.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reconcile/status/workload.hpp"

namespace stackgate::reconcile {

std::optional<Problem> refusal(std::string_view kind, std::string_view name, const kube::ApiError& error) {
  if (error.failure != kube::Failure::answered) return std::nullopt;
  const auto mentions = [&](std::string_view text) { return error.message.contains(text); };
  if (error.code == 403) {
    if (mentions("exceeded quota"))
      return Problem{"QuotaExceeded", fmt::format("the {} {} was not made: {}", kind, name, error.message), false};
    if (mentions("being terminated")) return Problem{"NamespaceTerminating", "the namespace is being deleted", false};
    if (!mentions("denied the request"))
      return Problem{"Forbidden", fmt::format("the operator may not write the {} {}: {}", kind, name, error.message),
                     true};
  }
  // 400: an admission webhook of somebody else may answer so. 409 and 404 pass; 5xx, 408 and 429 too.
  if (error.code == 403 || error.code == 422 || error.code == 400)
    return Problem{"ChildRefused", fmt::format("the {} {} was refused: {}", kind, name, error.message), true};
  return std::nullopt;
}

bool is_reported(const Status& status, const Problem& problem) {
  return problem.reason == name_taken_reason &&
         std::ranges::any_of(status.conditions, [&](const Condition& each) { return each.reason == problem.reason; });
}

}  // namespace stackgate::reconcile
