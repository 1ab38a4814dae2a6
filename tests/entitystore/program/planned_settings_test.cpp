#include "tests/reconcile/plan/planned_settings.hpp"

#include <gtest/gtest.h>

#include "services/entitystore/program/program.hpp"

namespace stackgate::entitystore {
namespace planned_settings_tests {

using namespace reconcile::tests;

TEST(EntitystoreOptions, read_all_that_the_operators_plan_gives) {
  const std::set<std::string> known = variables_of(program());
  for (const Tree& object : {full(crds::Kind::stack_entitystore), minimal(crds::Kind::stack_entitystore)}) {
    const Environment given = environment_of(plan_of(object), "Deployment");
    EXPECT_FALSE(given.empty());
    for (const auto& [variable, value] : given)
      EXPECT_TRUE(known.contains(variable) || !variable.starts_with("STACKGATE_")) << variable;
  }
}

TEST(EntitystoreOptions, of_a_planned_workload_are_right) {
  const Environment given = environment_of(plan_of(minimal(crds::Kind::stack_entitystore)), "Deployment");
  auto got = read_settings(program(), given);
  for (auto& finding : check_options(got.values)) got.findings.push_back(std::move(finding));
  EXPECT_TRUE(got.findings.empty()) << settings::to_text(program(), got.findings);
}

}  // namespace planned_settings_tests
}  // namespace stackgate::entitystore
