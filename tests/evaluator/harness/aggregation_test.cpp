#include "services/evaluator/suite/harness/aggregation.hpp"

#include <cmath>
#include <numbers>

#include <gmock/gmock.h>

namespace stackgate::evaluator::harness {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using A = Aggregation;

double value(A aggregation, std::vector<std::vector<double>> rows) {
  return estimate_of(aggregation, std::move(rows)).value;
}

TEST(Aggregation, is_what_lm_evaluation_harness_computes) {
  EXPECT_THAT(value(A::mean, {{1}, {0}, {0}, {1}}), DoubleEq(0.5));
  EXPECT_THAT(value(A::median, {{3}, {1}, {2}, {9}}), DoubleEq(3));  // the upper of 2 and 3
  EXPECT_THAT(value(A::perplexity, {{-1}, {-3}}), DoubleEq(std::exp(2)));
  EXPECT_THAT(value(A::weighted_perplexity, {{-2, 1}, {-10, 5}}), DoubleEq(std::exp(2)));
  EXPECT_THAT(value(A::bits_per_byte, {{-8, 2}, {-8, 2}}), DoubleEq(4 / std::numbers::ln2));
}

TEST(Aggregation, f1_looks_for_the_second_choice) {
  // Right, chosen: one is found, one missed, one claimed: 2 · 1 / (2 + 2).
  EXPECT_THAT(value(A::f1, {{1, 1}, {1, 0}, {0, 1}, {0, 0}}), DoubleEq(0.5));
  EXPECT_THAT(value(A::f1, {{0, 0}}), DoubleEq(0));
}

TEST(Aggregation, matthews_correlation_is_of_any_number_of_classes) {
  EXPECT_THAT(value(A::matthews_corrcoef, {{0, 0}, {1, 1}, {2, 2}}), DoubleEq(1));
  // tp = 6, tn = 3, fp = 1, fn = 2: (18 - 2) / sqrt(7 · 8 · 4 · 5).
  std::vector<std::vector<double>> rows(6, {1, 1});
  rows.insert(rows.end(), 3, {0, 0});
  rows.insert(rows.end(), 1, {0, 1});
  rows.insert(rows.end(), 2, {1, 0});
  EXPECT_THAT(value(A::matthews_corrcoef, rows), DoubleNear(16 / std::sqrt(1120.0), 1e-12));
  EXPECT_THAT(value(A::matthews_corrcoef, {{1, 1}, {0, 1}}), DoubleEq(0));
}

TEST(Aggregation, errors_are_the_deviation_by_root_n_or_drawn) {
  // Deviation of 1, 0, 0, 1 with n - 1: 1/sqrt(3); by sqrt(4).
  EXPECT_THAT(estimate_of(A::mean, {{1}, {0}, {0}, {1}}).error, DoubleNear(1 / std::sqrt(3.0) / 2, 1e-12));
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 400; ++i) rows.push_back({i % 2 == 0 ? -1.0 : -3.0});
  const Estimate drawn = estimate_of(A::perplexity, rows);
  // By the delta method: exp(2) · 1 / sqrt(400).
  EXPECT_NEAR(drawn.error, std::exp(2) / 20, 0.04);
  std::ranges::reverse(rows);
  EXPECT_EQ(estimate_of(A::perplexity, rows).error, drawn.error);
}

TEST(Aggregation, is_drawn_as_often_as_asked) {
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 50; ++i) rows.push_back({i % 2 == 0 ? -1.0 : -3.0});
  EXPECT_TRUE(std::isnan(estimate_of(A::perplexity, rows, 0).error));
  EXPECT_NE(estimate_of(A::perplexity, rows, 20).error, estimate_of(A::perplexity, rows, 40).error);
  EXPECT_EQ(estimate_of(A::perplexity, rows, bootstrap_rounds).error, estimate_of(A::perplexity, rows).error);
}

TEST(Aggregation, of_too_few_is_none) {
  for (const A each : {A::mean, A::median, A::perplexity, A::f1}) {
    EXPECT_TRUE(std::isnan(estimate_of(each, {}).value));
    EXPECT_TRUE(std::isnan(estimate_of(each, {{1, 1}}).error));
  }
  EXPECT_TRUE(std::isnan(value(A::weighted_perplexity, {{-1, 0}})));
}

TEST(Metrics, of_choices) {
  const Choices choices{.texts = {"a", "longer", "b"},
                        .loglikelihoods = {-3, -6, -2},
                        .unconditional = {-9, -7, -2},
                        .greedy = {true, false, false},
                        .gold = {0}};
  const auto score = [&](std::string_view name, const Choices& of) {
    const MetricKind* kind = metric_named(OutputType::multiple_choice, name);
    std::vector<double> out;
    score_choices({.kind = kind, .aggregation = kind->aggregation}, of, out);
    return out;
  };
  using testing::ElementsAre;
  EXPECT_THAT(score("acc", choices), ElementsAre(0));              // -2 is the greatest
  EXPECT_THAT(score("acc_norm", choices), ElementsAre(0));         // -3, -1, -2
  EXPECT_THAT(score("acc_mutual_info", choices), ElementsAre(1));  // 6, 1, 0
  EXPECT_THAT(score("exact_match", choices), ElementsAre(1));
  EXPECT_THAT(score("mcc", choices), ElementsAre(0, 2));
  Choices other = choices;
  other.gold = {1, 2};
  EXPECT_THAT(score("acc", other), ElementsAre(1));
  EXPECT_THAT(score("acc_norm", other), ElementsAre(1));
  EXPECT_THAT(score("exact_match", other), ElementsAre(0));
  // Two equal ones: each is given 1/2; 2 · (1/2)².
  EXPECT_THAT(score("brier_score", {.texts = {"a", "b"}, .loglikelihoods = {-1, -1}, .greedy = {}, .gold = {1}}),
              ElementsAre(DoubleEq(0.5)));
}

TEST(Metrics, of_texts) {
  const auto score = [](std::string_view name, std::string_view text, std::vector<std::string> references) {
    const MetricKind* kind = metric_named(OutputType::generate_until, name);
    MetricConfig metric{.kind = kind, .aggregation = kind->aggregation};
    if (name == "exact_match") metric.match = ExactMatch::compile({.ignore_case = true}).value();
    std::vector<double> numbers;
    score_text(metric, text, references, numbers);
    EXPECT_EQ(numbers.size(), width_of(kind->shape)) << name;
    return shown(metric, numbers);
  };
  EXPECT_EQ(score("exact_match", "Paris", {"Lyon", "paris"}), 1);
  EXPECT_EQ(score("exact_match", "Paris.", {"paris"}), 0);
  EXPECT_EQ(score("em", "The Paris!", {"paris"}), 1);
  EXPECT_EQ(score("contains", "It is Paris.", {"Paris"}), 1);
  EXPECT_EQ(score("contains", "It is paris.", {"Paris"}), 0);
  EXPECT_DOUBLE_EQ(score("f1", "a b c", {"b d"}), 0.5);  // "a" is an article: {b, c} and {b, d}
  EXPECT_DOUBLE_EQ(score("bleu", "the cat sat down", {"the cat sat down"}), 100);
  EXPECT_DOUBLE_EQ(score("chrf", "abcdef", {"abcdef"}), 100);
  EXPECT_DOUBLE_EQ(score("rouge1", "a b", {"a c"}), 0.5);
  EXPECT_DOUBLE_EQ(score("rougeL", "a b c d", {"a c d b"}), 0.75);
}

TEST(Metrics, aggregate_their_own_columns_and_count_what_has_no_value) {
  const MetricKind* kind = metric_named(OutputType::loglikelihood_rolling, "byte_perplexity");
  const MetricConfig metric{.kind = kind, .aggregation = kind->aggregation, .higher_is_better = false};
  const std::vector<std::vector<double>> values = {{7, -2, 1}, {7, -10, 5}, {7, no_value, 3}, {}};
  const Score score = aggregated(metric, values, 1);
  EXPECT_EQ(score.metric, "byte_perplexity");
  EXPECT_THAT(score.value, DoubleEq(std::exp(2)));
  EXPECT_EQ(score.count, 2U);
  EXPECT_EQ(score.nan_count, 1U);
  EXPECT_FALSE(score.higher_is_better);
}

}  // namespace
}  // namespace stackgate::evaluator::harness
