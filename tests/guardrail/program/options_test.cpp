#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/guardrail/program/program.hpp"
#include "tests/reconcile/plan/planned_settings.hpp"

namespace stackgate::guardrail {
namespace options_tests {

using reconcile::tests::Environment;

constexpr crds::Kind kind = crds::Kind::stack_guardrail;

Environment planned(const reconcile::tests::Tree& object) {
  using namespace reconcile::tests;
  Environment out = environment_of(plan_of(object, World{}), "Deployment");
  EXPECT_FALSE(out.empty());
  return out;
}

settings::Outcome read(const Environment& environment, const std::vector<const char*>& flags = {}) {
  auto out = reconcile::tests::read_settings(program(), environment, flags);
  for (auto& finding : check_options(out.values)) out.findings.push_back(std::move(finding));
  return out;
}

TEST(GuardrailOptions, read_all_that_the_operators_plan_gives) {
  const std::set<std::string> known = reconcile::tests::variables_of(program());
  Environment given = planned(reconcile::tests::full(kind, "{}"));
  given.merge(planned(reconcile::tests::minimal(kind, "{}")));
  for (const auto& [name, value] : given) EXPECT_TRUE(known.contains(name) || !name.starts_with("STACKGATE_")) << name;
  // And what the specification passes to a guardrail is given by the plan.
  for (const char* name : {"STACKGATE_CONFIG_STORE", "STACKGATE_INFERENCE_URL", "INFERENCE_ENDPOINT_API_KEY"}) {
    EXPECT_TRUE(known.contains(name)) << name;
    EXPECT_TRUE(given.contains(name)) << name;
  }
}

TEST(GuardrailOptions, of_a_planned_workload_are_right) {
  const auto got = read(planned(reconcile::tests::minimal(kind, "{}")));
  EXPECT_TRUE(got.findings.empty()) << settings::to_text(program(), got.findings);
  EXPECT_EQ(got.values.text("config-store"), "/config-store");
  EXPECT_EQ(got.values.text("listen"), "0.0.0.0:8000");
  EXPECT_EQ(got.values.text("default-config-id"), "default");
}

TEST(GuardrailOptions, of_init_containers_that_the_plan_makes_are_right) {
  std::size_t seen = 0;
  for (const auto& body :
       reconcile::tests::plan_of(reconcile::tests::full(kind, "{}"), reconcile::tests::World{}).bodies) {
    if (body["kind"] != "Deployment") continue;
    for (const auto& each : body["spec"]["template"]["spec"]["initContainers"]) {
      const auto command = each["args"].at(0).get<std::string>();
      const auto got = read(planned(reconcile::tests::full(kind, "{}")), {command.c_str()});
      EXPECT_TRUE(got.findings.empty()) << command << ": " << settings::to_text(program(), got.findings);
      EXPECT_EQ(got.values.command(), command);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 1U);
}

TEST(GuardrailOptions, without_configurations_are_refused) {
  const auto got = read({});
  ASSERT_EQ(got.findings.size(), 1U);
  EXPECT_EQ(got.findings[0].path, "--config-store");
  EXPECT_TRUE(read({}, {"--config-store", "c"}).findings.empty());
  EXPECT_TRUE(read({}, {"check", "c"}).findings.empty());
}

}  // namespace options_tests
}  // namespace stackgate::guardrail
