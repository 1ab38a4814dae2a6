// `stackgate crds [KIND…]`.
#pragma once
#include <string>
#include <vector>

#include "services/stackgate/console.hpp"

namespace stackgate {

struct CrdsOptions {
  std::vector<std::string> kinds;  // by kind, plural or short name; empty: all
  bool json = false;
};

/// 0, or 2 when there is no such kind.
int run_crds(const CrdsOptions& options, const Console& console);

}  // namespace stackgate
