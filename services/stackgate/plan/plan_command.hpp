// `stackgate plan`: what the operator would create for resources, without a cluster.
#pragma once
#include <string>
#include <vector>

#include "reconcile/plan/plan.hpp"
#include "services/stackgate/console.hpp"
#include "validators/rulebook.hpp"

namespace stackgate {

struct PlanOptions {
  std::vector<std::string> paths;  // files, directories, "-"
  bool json = false;
  std::string ns = "default";  // where none is written
  /// Minor version of the Kubernetes 1 that is planned for: which APIs of its own it serves.
  unsigned kubernetes_minor = 28;
  reconcile::Settings settings;
  validate::Options rules;
};

/// Writes the children of every resource of ours among the inputs, of a pipeline's services too. Caches count as ready
/// and optional APIs as installed. 0: all could be planned, 1: a resource is refused or could not run, 2: something
/// could not be read.
int run_plan(const PlanOptions& options, const Console& console);

}  // namespace stackgate
