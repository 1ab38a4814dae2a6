// The labels and annotations by which the operator knows its objects: written by the plan, read by the caches.
#pragma once
#include <array>
#include <optional>
#include <string_view>

#include "crds/kinds.hpp"

namespace stackgate::reconcile {

inline constexpr std::string_view app_label = "app";
inline constexpr std::string_view name_label = "app.kubernetes.io/name";
inline constexpr std::string_view instance_label = "app.kubernetes.io/instance";
inline constexpr std::string_view component_label = "app.kubernetes.io/component";
inline constexpr std::string_view part_of_label = "app.kubernetes.io/part-of";
inline constexpr std::string_view managed_by_label = "app.kubernetes.io/managed-by";
inline constexpr std::string_view part_of = "stackgate";
inline constexpr std::string_view managed_by = "stackgate";
/// On pod templates: changes when a Secret or ConfigMap does that the pods read.
inline constexpr std::string_view inputs_annotation = "stackgate.dev/inputs";

/// On children: the hash of the plan that they were made from, see compare/plan_hash.hpp.
inline constexpr std::string_view plan_annotation = "stackgate.dev/plan";

/// The component label's value, by crds::Kind.
inline constexpr std::array<std::string_view, 8> components{"inference",   "cache",      "pipeline",  "datastore",
                                                            "entitystore", "customizer", "evaluator", "guardrail"};
constexpr std::string_view component_of(crds::Kind kind) { return components[static_cast<std::size_t>(kind)]; }

constexpr std::optional<crds::Kind> kind_of_component(std::string_view component) {
  for (std::size_t i = 0; i < components.size(); ++i)
    if (components[i] == component) return static_cast<crds::Kind>(i);
  return std::nullopt;
}

}  // namespace stackgate::reconcile
