// Updates: what was wrong before and is untouched must not stop a user from changing something else.
#pragma once
#include "services/kit/findings/finding.hpp"
#include "validators/request.hpp"

namespace stackgate::validate {

/// An object on its way out, or an update that touches only metadata or the status.
bool nothing_to_review(const Request& request);

/// Turns those errors of `findings` (of request.object) into warnings that `before` (those of request.old) has too: the
/// same rule, place and words at a value that did not change. A place is the same when its list items are the same by
/// key (lists of type map), by value (sets, and lists without keys): an item that moved is still the same item.
void ratchet(const Request& request, Findings& findings, const Findings& before);

}  // namespace stackgate::validate
