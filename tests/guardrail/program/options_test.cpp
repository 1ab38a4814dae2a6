#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/guardrail/program/program.hpp"
#include "services/kit/settings/names.hpp"
#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::guardrail {
namespace options_tests {

using Environment = std::map<std::string, std::string>;

constexpr crds::Kind kind = crds::Kind::stack_guardrail;

/// The variables of the workload's container, with what stands there instead of a Secret's text.
Environment planned(const reconcile::tests::Tree& object) {
  using namespace reconcile::tests;
  Environment out;
  for (const auto& body : plan_of(object, World{}).bodies)
    if (body["kind"] == "Deployment")
      for (const auto& each : body["spec"]["template"]["spec"]["containers"][0]["env"])
        out[each["name"]] = each.contains("value") ? each["value"].get<std::string>() : "given";
  EXPECT_FALSE(out.empty());
  return out;
}

settings::Outcome read(const Environment& environment, std::vector<const char*> flags = {}) {
  auto out = settings::read(
      program(), flags,
      [&](const std::string& name) -> std::optional<std::string> {
        const auto found = environment.find(name);
        return found == environment.end() ? std::nullopt : std::optional(found->second);
      },
      [](const std::string&) { return std::nullopt; }, "1");
  for (auto& finding : check_options(out.values)) out.findings.push_back(std::move(finding));
  return out;
}

TEST(GuardrailOptions, read_all_that_the_operators_plan_gives) {
  std::set<std::string> known;
  for (const settings::Setting& setting : program().settings) {
    known.insert(settings::variable_of(setting));
    if (setting.kind == settings::Kind::secret) known.insert(settings::variable_of(setting) + "_FILE");
  }
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
      Environment environment = planned(reconcile::tests::full(kind, "{}"));
      environment.erase("STACKGATE_DATABASE_PASSWORD_FILE");  // the Secret's file, which is not there
      const auto got = read(environment, {command.c_str()});
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
