// What `stackgate plan` is asked for.
#pragma once
#include <string>
#include <vector>

#include "reconcile/plan/plan.hpp"
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

}  // namespace stackgate
