// The status of a resource for which something could not be done. Pure and thread-safe.
#pragma once
#include "reconcile/status/status.hpp"

namespace stackgate::reconcile {

/// The same status with the trouble as the cause of not being ready. A lasting one makes the state Failed, whatever
/// runs; a passing one leaves the state unless that was Ready.
Status blocked_by(Status status, const Trouble& trouble);

}  // namespace stackgate::reconcile
