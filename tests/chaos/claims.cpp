#include "tests/chaos/claims.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "reconcile/child_types.hpp"

namespace stackgate::chaos {
namespace {

/// `plural` is how the keys of the state begin; users make some of these types too.
bool holds_made(const State& state, std::string_view plural) {
  const std::string prefix = fmt::format("{}/", plural);
  return std::ranges::any_of(state, [&](const auto& each) {
    return each.first.starts_with(prefix) &&
           each.second.find(R"("app.kubernetes.io/managed-by":"stackgate")") != std::string::npos;
  });
}

}  // namespace

std::string unkept(const Claims& claims, const Golden& golden) {
  std::string out;
  const auto state_after = [&](const std::string& stage) -> const State* {
    const auto found = golden.find(stage);
    if (found == golden.end()) out += fmt::format("  the scenario has no stage '{}'\n", stage);
    return found == golden.end() ? nullptr : &found->second;
  };
  for (const std::string& stage : claims.whole) {
    const State* const state = state_after(stage);
    for (const reconcile::ChildTypeInfo& each : reconcile::child_types)
      if (state != nullptr && !holds_made(*state, each.plural))
        out += fmt::format("  after the stage '{}' there is no {} that the operator made\n", stage, each.kind);
  }
  for (const auto& [stage, key] : claims.gone) {
    const State* const state = state_after(stage);
    if (state == nullptr) continue;
    if (state->contains(key)) out += fmt::format("  after the stage '{}' {} is still there\n", stage, key);
    if (std::ranges::none_of(golden, [&](const auto& each) { return each.second.contains(key); }))
      out += fmt::format("  {} never was there, so that the stage '{}' could not take it away\n", key, stage);
  }
  return out;
}

}  // namespace stackgate::chaos
