// What an answer of the API server to a write means for the resource. Pure and thread-safe.
#pragma once
#include <optional>
#include <string_view>

#include "reconcile/status/status.hpp"
#include "services/kit/kube/api_error.hpp"

namespace stackgate::reconcile {

/// The problem to show to users, or nothing for what another try cures (conflicts, time-outs, an API server that is
/// busy or away). `kind` and `name` are the child's. Reasons: QuotaExceeded (passing), NamespaceTerminating (passing),
/// Forbidden, ChildRefused (lasting).
std::optional<Problem> refusal(std::string_view kind, std::string_view name, const kube::ApiError& error);

/// The plan sees by itself that a name is taken, and has words of its own for it where it knows more.
bool is_reported(const Status& status, const Problem& problem);

}  // namespace stackgate::reconcile
