// Whether a live object has everything that is wanted of it. Defaults that the API server added, fields of other
// managers and the order of named list items do not matter. Pure and thread-safe.
#pragma once
#include <optional>
#include <string>

#include "services/kit/json/value.hpp"

namespace stackgate::reconcile {

/// The first place where `live` is not as `desired` wants it, as "spec.template.spec.containers[server].image"; nothing
/// when all is there. A wanted null, false, 0, "" and empty list or map is there when the field is absent: the API
/// server does not store them. Lists whose items have a merge key in the API (containers, env, volumes, …) are compared
/// by it and may hold more; all others must be equal in length.
/// apiVersion and kind of the objects themselves are not compared: items of a list come without.
/// `desired` must be in the form in which the API server stores it: quantities above all.
std::optional<std::string> first_difference(const json::Value& desired, const json::Value& live);

}  // namespace stackgate::reconcile
