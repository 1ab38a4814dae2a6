// Entries that will never reach the cluster.
#pragma once
#include "crds/kinds.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate {

/// A warning for each entry of a map in `spec` (`memory:` in `limits`) that is null where the schema knows no null. The
/// API server drops it before admission, so that the gate never sees it: only here can it be reported. Of a field,
/// null means that it is not set, and nothing is reported.
validate::Findings dropped_values(crds::Kind kind, const json::Value& object);

}  // namespace stackgate
