#include "services/evaluator/suite/results.hpp"

#include <gtest/gtest.h>

namespace stackgate::evaluator {
namespace {

TEST(Results, stand_by_task_metric_and_score) {
  const TaskResult task{
      .name = "qa",
      .version = "1",
      .num_fewshot = 2,
      .samples = 10,
      .failed = 1,
      .scores = {{.metric = "rouge", .name = "rouge_1_score", .value = 0.5, .error = 0.125, .count = 9},
                 {.metric = "rouge", .name = "rouge_L_score", .value = no_value, .nan_count = 9},
                 {.metric = "ppl", .name = "ppl", .value = 3, .count = 9, .higher_is_better = false}}};
  EXPECT_EQ(
      results_json({&task, 1}, true),
      R"({"complete":true,"tasks":{"qa":{"metrics":{"rouge":{"scores":{)"
      R"("rouge_1_score":{"value":0.5,"stats":{"count":9,"nan_count":0,"stderr":0.125},"higher_is_better":true},)"
      R"("rouge_L_score":{"value":null,"stats":{"count":0,"nan_count":9,"stderr":null},"higher_is_better":true}}},)"
      R"("ppl":{"scores":{"ppl":{"value":3,"stats":{"count":9,"nan_count":0,"stderr":null},"higher_is_better":false}}}},)"
      R"("version":"1","num_fewshot":2,"samples":{"total":10,"failed":1}}},"groups":{}})");
}

TEST(Results, of_nothing_are_an_object) {
  EXPECT_EQ(results_json({}, false), R"({"complete":false,"tasks":{},"groups":{}})");
}

}  // namespace
}  // namespace stackgate::evaluator
