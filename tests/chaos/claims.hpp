// What the scenario is said to bring about. Without it a field that a kind does not have, and that the API server drops
// without a word, would leave the disturbed runs equal to an undisturbed one that shows nothing.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tests/chaos/trial.hpp"

namespace stackgate::chaos {

struct Claims {
  /// After these stages there is a child of each of reconcile::child_types, made by the operator.
  std::vector<std::string> whole;
  /// (stage, "plural/name"): objects that are not there after the stage, and are after another one.
  std::vector<std::pair<std::string, std::string>> gone;
};

/// What an undisturbed run does not show, a line each; empty when all is as claimed.
std::string unkept(const Claims& claims, const Golden& golden);

}  // namespace stackgate::chaos
