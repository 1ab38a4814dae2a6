// Whole plans of caches and pipelines, word for word: golden/<plural>.<sample>.json. UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace inference_owned_golden {

class OwnedGolden : public ::testing::TestWithParam<crds::Kind> {};

TEST_P(OwnedGolden, MinimalAndFullSample) {
  const std::string plural(crds::info(GetParam()).plural);
  for (const auto& [word, object] : {std::pair{".minimal", minimal(GetParam())}, {".full", full(GetParam())}}) {
    expect_golden(plural + word, as_list(plan_of(object)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, OwnedGolden,
                         ::testing::Values(crds::Kind::inference_cache, crds::Kind::inference_pipeline),
                         [](const auto& each) { return std::string(crds::info(each.param).plural); });

}  // namespace inference_owned_golden
}  // namespace stackgate::reconcile::tests
