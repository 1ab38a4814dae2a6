// `stackgate crds [KIND…]`: prints the definitions, or with --apply puts them into a cluster.
#pragma once
#include <string>
#include <vector>

#include "services/stackgate/console.hpp"

namespace stackgate {

struct CrdsOptions {
  std::vector<std::string> kinds;  // by kind, plural or short name; empty: all
  bool json = false;

  bool apply = false;
  bool dry_run = false;           // with apply: only print what would change
  unsigned timeout_seconds = 60;  // with apply: for each definition to be served
  std::string kubeconfig, context;
};

/// 0; 1 when applying failed or was refused; 2 when there is no such kind.
int run_crds(const CrdsOptions& options, const Console& console);

}  // namespace stackgate
