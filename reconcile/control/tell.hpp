// What the reconciler writes to the log about what it has done. Thread-safe.
#pragma once
#include <string_view>

#include "reconcile/observe/key.hpp"
#include "reconcile/status/status.hpp"

namespace stackgate::reconcile {

/// `drift`: somebody else had changed or deleted the child. Who wonders where a change by hand has gone finds that at
/// the usual level; other writes are for debugging.
void tell_child(const Key& key, std::string_view what, std::string_view kind, std::string_view name,
                std::string_view why, bool drift);

/// `was`: the state until now, empty when there was none.
void tell_status(const Key& key, std::string_view was, const Status& status);

}  // namespace stackgate::reconcile
