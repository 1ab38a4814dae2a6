#include "services/evaluator/runs/progress.hpp"

#include <gmock/gmock.h>

namespace stackgate::evaluator {
namespace {

using Parts = std::vector<TaskProgress>;

TEST(Progress, is_a_hundred_only_when_all_is_complete) {
  EXPECT_EQ(percent_of({}), 0);
  EXPECT_EQ(percent_of(Parts{{.name = "a", .total = 0}}), 0);
  EXPECT_DOUBLE_EQ(percent_of(Parts{{.name = "a", .total = 3, .done = 1}, {.name = "b", .total = 1}}), 25);
  EXPECT_LT(percent_of(Parts{{.name = "a", .total = 1, .done = 1}}), 100);
  EXPECT_EQ(percent_of(Parts{{.name = "a", .total = 1, .done = 1, .complete = true}}), 100);
  EXPECT_EQ(percent_of(Parts{{.name = "a", .total = 0, .complete = true}}), 100);
}

TEST(Progress, is_nemos) {
  EXPECT_EQ(progress_json(Parts{{.name = "a", .total = 2, .done = 2, .failed = 1, .complete = true},
                                {.name = "b", .total = 4, .done = 1},
                                {.name = "c", .total = 1}},
                          0),
            R"({"task_status":{"a":"completed","b":"running","c":"pending"},"progress":42.8,)"
            R"("samples":{"total":7,"done":3,"failed":1}})");
}

TEST(Progress, never_goes_back) {
  const std::string before = progress_json(Parts{{.name = "a", .total = 10, .done = 8}}, 0);
  EXPECT_DOUBLE_EQ(shown_percent(before), 80);
  EXPECT_DOUBLE_EQ(shown_percent(progress_json(Parts{{.name = "a", .total = 10, .done = 2}}, shown_percent(before))),
                   80);
  EXPECT_EQ(shown_percent(""), 0);
  EXPECT_EQ(shown_percent(R"({"progress":"x"})"), 0);
}

}  // namespace
}  // namespace stackgate::evaluator
