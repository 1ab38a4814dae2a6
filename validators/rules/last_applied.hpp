// What `kubectl apply` sent, before the API server pruned it.
//
// The API server drops unknown fields of a custom resource before any webhook sees it, but the annotation
// kubectl.kubernetes.io/last-applied-configuration keeps the user's own text.
#pragma once
#include <string_view>

#include "validators/rules/context.hpp"

namespace stackgate::validate {

inline constexpr std::string_view last_applied_annotation = "kubectl.kubernetes.io/last-applied-configuration";

/// The annotation's value in `object`, or nullptr.
const json::Value* last_applied(const json::Value& object);

/// Unknown fields in a configuration that is new or has changed, each at its own path.
void check_last_applied(Context& context, const Field& annotations);

}  // namespace stackgate::validate
