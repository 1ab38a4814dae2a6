// `stackgate crds --apply`: the definitions in this program, put into a cluster.
#pragma once
#include <vector>

#include "crds/kinds.hpp"
#include "services/stackgate/console.hpp"
#include "services/stackgate/crds_command.hpp"

namespace stackgate {

/// Looks at all first and changes nothing when one of them must not be replaced; then applies each (server-side, field
/// manager "stackgate") and waits until the API server serves it. What is the same already is not written. Prints what
/// changed. 0, or 1 when something was refused or failed: running it again goes on where it stopped.
int apply_crds(const std::vector<crds::Kind>& kinds, const CrdsOptions& options, const Console& console);

}  // namespace stackgate
