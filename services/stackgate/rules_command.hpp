// `stackgate rules` and `stackgate rules explain ID`.
#pragma once
#include <string>

#include "services/stackgate/console.hpp"

namespace stackgate {

struct RulesOptions {
  std::string explain;  // empty: list them all
  bool json = false;
};

/// 0, or 2 when there is no such rule.
int run_rules(const RulesOptions& options, const Console& console);

}  // namespace stackgate
