// What the rules have found, as a plan needs it. A fault of the resource itself refuses it. What is about other objects
// never does: they come later, are made anew by whoever keeps them, and watches see both a moment late. It is
// reported in the condition ReferencesResolved, and waited for.
// Pure and thread-safe.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconcile/plan/plan.hpp"

namespace stackgate::reconcile {

inline constexpr std::string_view references_condition = "ReferencesResolved";

/// One line per fault of the resource itself, as the gate would have worded it; empty when there is none.
std::string faults_in_words(std::span<const validate::Finding> findings);

/// The condition ReferencesResolved with the findings' own words, or nothing when all is there. What is merely a
/// warning is left out where pods start without it.
std::optional<Condition> unresolved_references(const Observed& observed);

/// What the pods read and is not there, in the words in which a pod reports it. A pod reports variables only: one
/// whose volume cannot be mounted is silent. All are passing.
std::vector<Problem> input_problems(const Observed& observed);

/// Pods that are started now could not run for lack of an input.
bool lacks_inputs(const Observed& observed);

}  // namespace stackgate::reconcile
