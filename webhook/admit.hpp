// The verdict on one admission request. Pure: everything it knows comes in as values or through the Lookup.
#pragma once
#include <cstdint>

#include "validators/rulebook.hpp"
#include "webhook/review.hpp"

namespace stackgate::webhook {

/// The API server asks twice. Mutating webhooks are called before the schema check, validating ones after it; a user
/// who should see all faults at once needs the first call, a cluster that must be safe needs the last word.
enum class Stage : std::uint8_t {
  early,     // POST /early: refuses, never changes anything, leaves warnings to the second call
  validate,  // POST /validate
};
std::string_view to_string(Stage stage);

struct Verdict {
  Answer answer;
  validate::Findings findings;
};

/// May throw what a rule throws; the caller turns that into an internal error.
Verdict admit(Stage stage, const ReviewRequest& request, validate::Lookup* lookup, const validate::Options& options);

}  // namespace stackgate::webhook
