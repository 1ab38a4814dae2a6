#include "services/evaluator/suite/groups.hpp"

#include <cmath>

#include <gmock/gmock.h>

#include "services/evaluator/suite/results.hpp"

namespace stackgate::evaluator {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

Score score(std::string name, double value, double error, std::uint64_t count) {
  return {.metric = name.substr(0, name.find(',')), .name = name, .value = value, .error = error, .count = count};
}

std::vector<TaskResult> two(TaskGroup group) {
  return {{.name = "a", .scores = {score("acc", 0.5, 0.25, 4)}, .groups = {group}},
          {.name = "b", .scores = {score("acc", 1, 0.125, 12), score("f1", 1, 0, 12)}, .groups = {group}},
          {.name = "c", .scores = {score("acc", 0, 0, 100)}}};
}

TEST(Groups, are_the_mean_by_size_with_a_pooled_error) {
  const auto groups = group_results(two({.name = "g", .alias = "G", .version = "2", .metrics = {{.metric = "acc"}}}));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].name, "g");
  EXPECT_THAT(groups[0].tasks, ElementsAre("a", "b"));
  ASSERT_EQ(groups[0].scores.size(), 1U);
  EXPECT_THAT(groups[0].scores[0].value, DoubleEq(0.875));  // (0.5 · 4 + 1 · 12) / 16
  EXPECT_EQ(groups[0].scores[0].count, 16U);
  // (3 · 1/16 · 4 + 11 · 1/64 · 12) / (16 - 2) = 0.2009…; by 16, root.
  EXPECT_THAT(groups[0].scores[0].error, DoubleNear(std::sqrt((0.75 + 2.0625) / 14 / 16), 1e-12));
}

TEST(Groups, may_count_each_task_once) {
  const auto groups = group_results(two({.name = "g", .metrics = {{.metric = "acc", .weight_by_size = false}}}));
  EXPECT_THAT(groups[0].scores[0].value, DoubleEq(0.75));
}

TEST(Groups, take_the_filters_that_they_name) {
  const TaskGroup group{.name = "g", .metrics = {{.metric = "em", .filters = {"strict"}}}};
  const std::vector<TaskResult> tasks = {
      {.name = "a", .scores = {score("em,strict", 0.5, 0.1, 4), score("em,free", 1, 0.1, 4)}, .groups = {group}}};
  const auto groups = group_results(tasks);
  ASSERT_EQ(groups[0].scores.size(), 1U);
  EXPECT_EQ(groups[0].scores[0].name, "em,strict");
}

TEST(Groups, without_a_score_are_not_shown) {
  EXPECT_THAT(group_results(two({.name = "g"})), IsEmpty());
  EXPECT_THAT(group_results(two({.name = "g", .metrics = {{.metric = "bleu"}}})), IsEmpty());
  EXPECT_TRUE(
      std::isnan(group_results(std::vector<TaskResult>{{.scores = {score("acc", 1, no_value, 1)},
                                                        .groups = {{.name = "g", .metrics = {{.metric = "acc"}}}}}})
                     .front()
                     .scores[0]
                     .error));
}

TEST(Groups, stand_in_the_results) {
  std::vector<TaskResult> tasks = {
      {.name = "a",
       .scores = {score("acc", 0.5, 0.25, 2)},
       .groups = {{.name = "g", .alias = "G", .version = "1", .metrics = {{.metric = "acc"}}}}}};
  tasks[0].scores[0].error_name = "acc_stderr";
  const std::string text = results_json(tasks, true);
  constexpr std::string_view scores =
      R"("scores":{"acc":{"value":0.5,"stats":{"count":2,"nan_count":0,"stderr":0.25},"higher_is_better":true},)"
      R"("acc_stderr":{"value":0.25}})";
  EXPECT_NE(text.find(R"("tasks":{"a":{"metrics":{"acc":{)" + std::string(scores)), std::string::npos) << text;
  EXPECT_NE(text.find(R"("groups":{"g":{"metrics":{"acc":{)" + std::string(scores) +
                      R"(}},"alias":"G","version":"1","tasks":["a"]}})"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace stackgate::evaluator
