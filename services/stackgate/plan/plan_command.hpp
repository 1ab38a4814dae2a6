// `stackgate plan`: what the operator would create for resources, without a cluster.
#pragma once
#include "services/stackgate/console.hpp"
#include "services/stackgate/plan/options.hpp"

namespace stackgate {

/// Writes the children of every resource of ours among the inputs, of a pipeline's services too. Caches count as ready
/// and optional APIs as installed. 0: all could be planned, 1: a resource is refused or could not run, 2: something
/// could not be read.
int run_plan(const PlanOptions& options, const Console& console);

}  // namespace stackgate
