#include "services/evaluator/compare/compare.hpp"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "services/evaluator/suite/results.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;

std::string request_text(std::string_view dataset = "hf://datasets/a/b@1", int seed = 1) {
  return fmt::format(R"({{"name":"x","framework":"custom","dataset":"{}","seed":{},"limit":10}})", dataset, seed);
}

TaskResult task(double value, double error, bool higher = true) {
  return {
      .name = "qa",
      .version = "1",
      .num_fewshot = 2,
      .samples = 100,
      .scores = {
          {.metric = "acc", .name = "acc", .value = value, .error = error, .count = 100, .higher_is_better = higher}}};
}

Compared compared(std::string name, const TaskResult& result, std::string request = request_text()) {
  return {.name = std::move(name), .request = std::move(request), .results = results_json({&result, 1}, true)};
}

ComparisonRequest two(bool force = false) { return {.evaluations = {"a", "b"}, .baseline = "a", .force = force}; }

TEST(Difference, of_means_is_worked_out_by_hand) {
  // z = 0.1 / √(0.03² + 0.04²) = 2; P(|N| > 2) = 0.0455.
  const Score a{.value = 0.5, .error = 0.03}, b{.value = 0.6, .error = 0.04};
  const Difference found = difference_of(a, b, {}, {}, 0.95);
  EXPECT_EQ(found.test, "normal");
  EXPECT_THAT(found.delta, DoubleNear(0.1, 1e-12));
  EXPECT_THAT(found.error, DoubleNear(0.05, 1e-12));
  EXPECT_THAT(found.p_value, DoubleNear(0.0455003, 1e-6));
  EXPECT_THAT(found.low, DoubleNear(0.1 - 1.959964 * 0.05, 1e-6));
  EXPECT_TRUE(found.significant);
  EXPECT_EQ(found.better, 1);
  EXPECT_EQ(found.items, 0U);
  EXPECT_FALSE(difference_of(a, b, {}, {}, 0.99).significant);
}

TEST(Difference, minds_whether_more_is_better) {
  const Score a{.value = 5, .error = 0.1, .higher_is_better = false},
      b{.value = 3, .error = 0.1, .higher_is_better = false};
  EXPECT_EQ(difference_of(a, b, {}, {}, 0.95).better, 1);
  EXPECT_EQ(difference_of(b, a, {}, {}, 0.95).better, -1);
}

TEST(Difference, of_0_and_1_is_McNemars) {
  // 10 items: b alone is right in 6, a alone in none: 2 · (1/2)^6 = 0.03125.
  const std::vector<double> a{0, 0, 0, 0, 0, 0, 1, 1, 0, 0}, b{1, 1, 1, 1, 1, 1, 1, 1, 0, 0};
  const Difference found = difference_of({.value = 0.2}, {.value = 0.8}, a, b, 0.95);
  EXPECT_EQ(found.test, "mcnemar");
  EXPECT_THAT(found.p_value, DoubleNear(0.03125, 1e-12));
  EXPECT_EQ(found.items, 10U);
  EXPECT_TRUE(found.significant);
  // The deviation of six 1 and four 0 is √(10·0.24/9), the error of their mean that / √10.
  EXPECT_THAT(found.error, DoubleNear(std::sqrt(2.4 / 9 / 10), 1e-12));
}

TEST(Difference, of_numbers_is_the_paired_bootstraps_and_the_same_each_time) {
  std::vector<double> a, b;
  for (int i = 0; i < 50; ++i) {
    a.push_back(0.01 * i);
    b.push_back(0.01 * i + 0.02 + (i % 2 == 0 ? 0.01 : -0.01));
  }
  const Score score_a{.value = 0.245, .error = 0.02}, score_b{.value = 0.265, .error = 0.02};
  const Difference found = difference_of(score_a, score_b, a, b, 0.95);
  EXPECT_EQ(found.test, "paired_bootstrap");
  EXPECT_TRUE(found.significant) << "pairs tell what two means of this spread do not";
  EXPECT_FALSE(difference_of(score_a, score_b, {}, {}, 0.95).significant);
  EXPECT_EQ(found.p_value, difference_of(score_a, score_b, a, b, 0.95).p_value);
}

TEST(Difference, of_many_items_is_normal) {
  std::vector<double> a(30'000), b(30'000);
  for (std::size_t i = 0; i < a.size(); ++i) b[i] = i % 2 == 0 ? 0.5 : 0;
  const Difference found = difference_of({.value = 0}, {.value = 0.25}, a, b, 0.95);
  EXPECT_EQ(found.test, "paired_normal");
  EXPECT_TRUE(found.significant);
}

TEST(Difference, takes_no_pairs_for_what_is_not_their_mean) {
  const std::vector<double> a{0, 0, 1}, b{1, 1, 1};
  const Difference found = difference_of({.value = 31.2}, {.value = 35.1}, a, b, 0.95);
  EXPECT_EQ(found.test, "none") << "corpus scores without errors";
  EXPECT_FALSE(found.significant);
  EXPECT_TRUE(std::isnan(found.p_value));
}

TEST(Difference, of_nothing_is_none) {
  const Difference found = difference_of({}, {.value = 1}, {}, {}, 0.95);
  EXPECT_TRUE(std::isnan(found.delta));
  EXPECT_EQ(found.better, 0);
}

TEST(Difference, of_equals_does_not_count) {
  const std::vector<double> same{0, 1, 1};
  const Difference found = difference_of({.value = 2.0 / 3}, {.value = 2.0 / 3}, same, same, 0.95);
  EXPECT_EQ(found.delta, 0);
  EXPECT_EQ(found.p_value, 1);
  EXPECT_FALSE(found.significant);
}

TEST(Quantile, is_the_tables) {
  EXPECT_THAT(normal_quantile(0.95), DoubleNear(1.959963985, 1e-8));
  EXPECT_THAT(normal_quantile(0.5), DoubleNear(0.674489750, 1e-8));
}

TEST(Compare, finds_the_winner) {
  const auto found = compare(two(), std::vector{compared("a", task(0.5, 0.01)), compared("b", task(0.6, 0.01))});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->scores.size(), 1U);
  EXPECT_EQ(found->scores[0].winner, 1U);
  EXPECT_EQ(found->winner, 1U);
  EXPECT_THAT(found->wins, testing::ElementsAre(0, 1));
  EXPECT_EQ(found->ties, 0U);
  ASSERT_EQ(found->scores[0].differences.size(), 1U);
  EXPECT_EQ(found->scores[0].differences[0].evaluation, 1U);
}

TEST(Compare, has_no_winner_by_chance) {
  const auto found = compare(two(), std::vector{compared("a", task(0.5, 0.1)), compared("b", task(0.6, 0.1))});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->scores[0].winner);
  EXPECT_FALSE(found->winner);
  EXPECT_EQ(found->ties, 1U);
}

TEST(Compare, wants_a_winner_to_beat_each_other_one) {
  const ComparisonRequest three{.evaluations = {"a", "b", "c"}, .baseline = "a"};
  const auto found = compare(three, std::vector{compared("a", task(0.2, 0.01)), compared("b", task(0.60, 0.01)),
                                                compared("c", task(0.61, 0.01))});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->scores[0].winner);
  EXPECT_EQ(found->scores[0].differences.size(), 2U);
  EXPECT_TRUE(found->scores[0].differences[1].difference.significant);
}

TEST(Compare, uses_samples_of_the_same_items) {
  std::vector<Compared> both{compared("a", task(0.2, 0.1)), compared("b", task(0.8, 0.1))};
  for (int i = 0; i < 10; ++i) {
    both[0].samples["qa"].add(i, fmt::format(R"({{"scores":{{"acc":{}}}}})", i < 2 ? "true" : "false"));
    both[1].samples["qa"].add(i, fmt::format(R"({{"scores":{{"acc":{}}}}})", i < 8 ? 1 : 0));
  }
  const auto found = compare(two(), both);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->scores[0].differences[0].difference.test, "mcnemar");
  EXPECT_THAT(found->scores[0].differences[0].difference.p_value, DoubleNear(0.03125, 1e-12));
}

TEST(Compare, draws_as_often_as_asked) {
  std::vector<Compared> both{compared("a", task(0.145, 0.1)), compared("b", task(0.7495, 0.1))};
  for (int i = 0; i < 10; ++i)
    for (std::size_t which : {0U, 1U})
      both[which].samples["qa"].add(
          i, fmt::format(R"({{"scores":{{"acc":{}}}}})", which == 0 ? 0.1 + 0.01 * i : 0.7 + 0.011 * i));
  ComparisonRequest request = two();
  for (const std::uint32_t rounds : {100U, 2'000U}) {
    request.bootstrap_rounds = rounds;
    const auto found = compare(request, both);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->scores[0].differences[0].difference.test, "paired_bootstrap");
    EXPECT_THAT(found->scores[0].differences[0].difference.p_value, DoubleNear(1.0 / (rounds + 1), 1e-12));
  }
}

TEST(Compare, refuses_other_rows) {
  const auto with = [](std::string_view rows) {
    return fmt::format(R"({{"framework":"custom","seed":1,"rows":{}}})", rows);
  };
  EXPECT_TRUE(compare(two(), std::vector{compared("a", task(0.5, 0.01), with(R"([{"a":1}])")),
                                         compared("b", task(0.6, 0.01), with(R"([{"a":1}])"))}));
  const auto refused = compare(two(), std::vector{compared("a", task(0.5, 0.01), with(R"([{"a":1}])")),
                                                  compared("b", task(0.6, 0.01), with(R"([{"a":2}])"))});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error()[0].problem, testing::StartsWith("the data set and its revision of \"b\" is \"rows "));
}

TEST(Compare, refuses_what_differs_and_says_each_thing) {
  TaskResult other = task(0.6, 0.01);
  other.version = "2";
  other.num_fewshot = 0;
  const std::vector both{compared("a", task(0.5, 0.01)), compared("b", other, request_text("hf://datasets/a/b@2", 7))};
  const auto refused = compare(two(), both);
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.error().size(), 4U);
  EXPECT_EQ(refused.error()[0].problem,
            R"(the data set and its revision of "b" is "hf://datasets/a/b@2", of "a" "hf://datasets/a/b@1")");
  EXPECT_EQ(refused.error()[0].path, "evaluations[1]");
  EXPECT_THAT(refused.error()[1].problem, HasSubstr("the seed"));
  EXPECT_THAT(refused.error()[2].problem, HasSubstr("the version of task qa"));
  EXPECT_THAT(refused.error()[3].problem, HasSubstr("the number of shots of task qa"));

  const auto forced = compare(two(true), both);
  ASSERT_TRUE(forced);
  EXPECT_TRUE(forced->forced);
  EXPECT_EQ(forced->warnings.size(), 4U);
  EXPECT_EQ(forced->scores[0].differences[0].difference.test, "normal") << "other items are no pairs";
}

TEST(Compare, leaves_out_tasks_that_only_one_has) {
  TaskResult other = task(0.6, 0.01);
  other.name = "more";
  const std::vector results{task(0.5, 0.01), other};
  std::vector both{compared("a", task(0.5, 0.01)), compared("b", task(0.6, 0.01))};
  both[1].results = results_json(results, true);
  const auto found = compare(two(), both);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->scores.size(), 1U);
  ASSERT_EQ(found->warnings.size(), 1U);
  EXPECT_EQ(found->warnings[0].problem, R"("a" has no task more)");

  both[0].results = results_json({&other, 1}, true);
  both[1].results = results_json({results.data(), 1}, true);
  EXPECT_FALSE(compare(two(), both)) << "nothing in common";
}

TEST(Compare, says_which_results_cannot_be_read) {
  std::vector both{compared("a", task(0.5, 0.01)), compared("b", task(0.6, 0.01))};
  both[1].results = "";
  const auto found = compare(two(), both);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error()[0].path, "evaluations[1]");
}

TEST(Compare, is_written_without_what_is_no_number) {
  TaskResult none = task(no_value, no_value);
  const auto found = compare(two(), std::vector{compared("a", task(0.5, 0.01)), compared("b", none)});
  ASSERT_TRUE(found);
  const std::string text = to_json(*found);
  EXPECT_EQ(text,
            R"({"evaluations":["a","b"],"baseline":"a","confidence":0.95,"forced":false,"scores":[)"
            R"({"task":"qa","metric":"acc","score":"acc","higher_is_better":true,"values":{)"
            R"("a":{"value":0.5,"stderr":0.01,"count":100},"b":{"value":null,"stderr":null,"count":100}},)"
            R"("differences":[{"evaluation":"b","baseline":"a","delta":null,"stderr":null,"low":null,"high":null,)"
            R"("test":"none","p_value":null,"items":0,"significant":false,"verdict":"tie"}],"winner":null}],)"
            R"("overall":{"wins":{"a":0,"b":0},"ties":1,"winner":null},"warnings":[]})");
}

TEST(SampleScores, are_read_from_whatever_is_there) {
  SampleScores scores;
  for (const std::string_view record :
       {"", "[]", "nonsense", R"({"scores": 3})", R"({"scores": {"acc": "NaN"}})", R"({"scores": [1]})"})
    scores.add(0, record);
  EXPECT_EQ(scores.find({.metric = "acc", .name = "acc"}), nullptr);
  scores.add(2, R"({"scores": {"acc": true, "rouge": {"rouge_1_score": 0.5}}})");
  scores.add(-1, R"({"scores": {"acc": 1}})");
  scores.add(1'000'000'000, R"({"scores": {"acc": 1}})");
  const auto* acc = scores.find({.metric = "x", .name = "acc"});
  ASSERT_NE(acc, nullptr);
  ASSERT_EQ(acc->size(), 3U);
  EXPECT_TRUE(std::isnan((*acc)[0]));
  EXPECT_EQ((*acc)[2], 1);
  EXPECT_NE(scores.find({.metric = "rouge", .name = "rouge_1_score"}), nullptr);
  EXPECT_EQ(scores.find({.metric = "acc", .name = "other"}), acc) << "by the metric's name";
}

}  // namespace
}  // namespace stackgate::evaluator
