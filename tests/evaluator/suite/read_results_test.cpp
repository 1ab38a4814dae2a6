#include <cmath>

#include <gtest/gtest.h>

#include "services/evaluator/suite/results.hpp"

namespace stackgate::evaluator {
namespace {

TEST(ReadResults, gives_what_was_written) {
  const TaskResult task{
      .name = "qa",
      .version = "1",
      .num_fewshot = 2,
      .samples = 10,
      .failed = 1,
      .scores = {{.metric = "rouge", .name = "rouge_1_score", .value = 0.5, .error = 0.125, .count = 9},
                 {.metric = "rouge", .name = "rouge_L_score", .value = no_value, .nan_count = 9},
                 {.metric = "ppl", .name = "ppl", .value = 3, .higher_is_better = false}}};
  TaskResult with_spread = task;
  with_spread.scores[0].spread = {.sum = 4.5, .mean = 0.5, .least = 0, .most = 1, .deviation = 0.375};
  const std::string text = results_json({&with_spread, 1}, true);
  EXPECT_TRUE(text.contains(R"("count":9,"sum":4.5,"mean":0.5,"min":0,"max":1,"stddev":0.375,"nan_count":0)")) << text;
  const auto read = read_results(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(results_json(*read, true), text);
}

TEST(ReadResults, takes_NeMos_own_and_what_lies_about_types) {
  const auto read = read_results(
      R"({"job":"eval-1","tasks":{"t":{"metrics":{"m":{"scores":{"a":{"value":"NaN"},"b":{"value":1,"stats":{"count":-3}},"c":7}}}},"u":3},)"
      R"("groups":{"g":{"metrics":{"m":{"scores":{"a":{"value":2}}}}}}})");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 3U);
  ASSERT_EQ((*read)[0].scores.size(), 3U);
  EXPECT_TRUE(std::isnan((*read)[0].scores[0].value));
  EXPECT_EQ((*read)[0].scores[1].value, 1);
  EXPECT_EQ((*read)[0].scores[1].count, 0U);
  EXPECT_EQ((*read)[2].name, "g");
}

TEST(ReadResults, takes_errors_for_what_they_are_of) {
  const auto read = read_results(
      R"({"tasks":{"t":{"metrics":{"em":{"scores":{"em,strict":{"value":1},"em_stderr,strict":{"value":0.25},)"
      R"("x_stderr":{"value":3}}}}}}})");
  ASSERT_TRUE(read);
  ASSERT_EQ((*read)[0].scores.size(), 2U);
  EXPECT_EQ((*read)[0].scores[0].error, 0.25);
  EXPECT_EQ((*read)[0].scores[0].error_name, "em_stderr,strict");
  EXPECT_EQ((*read)[0].scores[1].name, "x_stderr");  // of nothing
}

TEST(ReadResults, takes_errors_that_stand_among_the_scores_for_errors) {
  const TaskResult task{.name = "gsm8k",
                        .scores = {{.metric = "exact_match",
                                    .name = "exact_match,strict",
                                    .value = 0.5,
                                    .error = 0.1,
                                    .error_name = "exact_match_stderr,strict"}}};
  const auto own = read_results(results_json({&task, 1}, true));
  ASSERT_TRUE(own);
  ASSERT_EQ((*own)[0].scores.size(), 1U);
  EXPECT_EQ((*own)[0].scores[0].error_name, "exact_match_stderr,strict");
  const auto nemo = read_results(
      R"({"tasks":{"t":{"metrics":{"m":{"scores":{"em":{"value":1},"em_stderr":{"value":0.2},"other_stderr":{"value":3}}}}}}})");
  ASSERT_TRUE(nemo);
  ASSERT_EQ((*nemo)[0].scores.size(), 2U);
  EXPECT_EQ((*nemo)[0].scores[0].error, 0.2);
  EXPECT_EQ((*nemo)[0].scores[1].name, "other_stderr") << "of nothing";
}

TEST(ReadResults, says_why_it_cannot) {
  EXPECT_FALSE(read_results(""));
  EXPECT_FALSE(read_results("[]"));
  EXPECT_FALSE(read_results(R"({"tasks":{)"));
  std::string many = R"({"tasks":{)";
  for (int i = 0; i < 1'002; ++i) many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":{}";
  EXPECT_FALSE(read_results(many + "}}"));
}

}  // namespace
}  // namespace stackgate::evaluator
