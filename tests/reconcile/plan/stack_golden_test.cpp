// Whole plans, word for word: golden/<plural>.<sample>.json. UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include "crds/embedded.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/yaml/parse.hpp"
#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace stack_golden {

constexpr std::array stack_kinds{crds::Kind::stack_datastore, crds::Kind::stack_entitystore,
                                 crds::Kind::stack_customizer, crds::Kind::stack_evaluator,
                                 crds::Kind::stack_guardrail};

class StackGolden : public ::testing::TestWithParam<crds::Kind> {};

TEST_P(StackGolden, MinimalAndFullSample) {
  const std::string plural(crds::info(GetParam()).plural);
  for (const auto& [word, object] : {std::pair{".minimal", minimal(GetParam())}, {".full", full(GetParam())}}) {
    const Planned planned = plan_of(object);
    ASSERT_FALSE(planned.bodies.empty());
    expect_golden(plural + word, as_list(planned));
  }
}

INSTANTIATE_TEST_SUITE_P(All, StackGolden, ::testing::ValuesIn(stack_kinds),
                         [](const auto& each) { return std::string(crds::info(each.param).plural); });

TEST(StackGolden, AWholeStackFitsTogether) {
  const std::string text(crds::stack_sample());
  const yaml::Stream stream = yaml::parse(text);
  Planned all;
  for (const json::Document& each : stream.documents) {
    const Tree object = Tree::parse(json::to_json(each.root));
    const auto kind = crds::kind_named(object.value("kind", ""));
    if (!kind || std::ranges::find(stack_kinds, *kind) == stack_kinds.end()) continue;
    Planned one = plan_of(object);
    for (auto& child : one.plan.children) all.plan.children.push_back(std::move(child));
    for (auto& body : one.bodies) all.bodies.push_back(std::move(body));
  }
  std::vector<std::string> names = all.names();
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end()) << "two resources make one object";
  expect_golden("stack", as_list(all));
}

}  // namespace stack_golden
}  // namespace stackgate::reconcile::tests
