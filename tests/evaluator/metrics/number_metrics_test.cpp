// Likelihoods, rankings, pass@k, statistics and calls of functions against values worked out by hand.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "services/evaluator/metrics/likelihoods.hpp"
#include "services/evaluator/metrics/ranking.hpp"
#include "services/evaluator/metrics/statistics.hpp"
#include "services/evaluator/metrics/tool_calls.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace {

using Texts = std::vector<std::string>;

TEST(Mean, has_the_samples_error) {
  const std::array values = {1.0, 2.0, 3.0, 4.0, std::nan("")};
  const Mean found = mean_of(values);
  EXPECT_DOUBLE_EQ(found.value, 2.5);
  EXPECT_DOUBLE_EQ(found.error, std::sqrt(5.0 / 3 / 4));
  EXPECT_EQ(found.count, 4U);
  EXPECT_EQ(found.nan_count, 1U);
  EXPECT_TRUE(std::isnan(mean_of({}).value));
  EXPECT_TRUE(std::isnan(mean_of({values.data(), 1}).error));
}

TEST(NumberMetrics, do_not_depend_on_the_order_of_items_or_choices) {
  std::mt19937 random(13);
  const auto real = [&random] { return -static_cast<double>(1 + random() % 1'000'000) / 1024; };
  for (int round = 0; round < 50; ++round) {
    std::vector<double> values(40);
    std::ranges::generate(values, real);
    values.push_back(1e15);
    const Mean forth = mean_of(values);
    std::ranges::shuffle(values, random);
    EXPECT_EQ(mean_of(values).value, forth.value);
    EXPECT_DOUBLE_EQ(mean_of(values).error, forth.error);
    std::vector<std::string> choices;
    std::vector<double> likelihoods;
    for (std::size_t i = 0; i < 5; ++i) {
      choices.emplace_back(1 + random() % 9, 'x');
      likelihoods.push_back(real() - static_cast<double>(i) / 4096);  // no two are equal
    }
    const Texts turned(choices.rbegin(), choices.rend());
    const std::vector<double> turned_likelihoods(likelihoods.rbegin(), likelihoods.rend());
    for (std::size_t right = 0; right < 5; ++right) {
      const std::array<std::size_t, 1> gold = {right}, turned_gold = {4 - right};
      EXPECT_EQ(choice_scores(choices, likelihoods, gold).acc,
                choice_scores(turned, turned_likelihoods, turned_gold).acc);
    }
  }
}

TEST(PairedBootstrap, tells_a_difference_from_chance) {
  std::vector<double> a, b, c;
  for (int i = 0; i < 200; ++i) {
    a.push_back(i % 2);
    b.push_back((i + 1) % 2);                       // as good, on other items
    c.push_back(i % 2 == 1 || i % 5 == 0 ? 1 : 0);  // better in 20 items of 200
  }
  EXPECT_DOUBLE_EQ(paired_bootstrap(a, a, 500, 1), 1);
  EXPECT_GT(paired_bootstrap(a, b, 500, 1), 0.5);
  EXPECT_LT(paired_bootstrap(a, c, 500, 1), 0.01);
  EXPECT_TRUE(std::isnan(paired_bootstrap({}, {}, 500, 1)));
}

TEST(McNemar, is_the_exact_binomial_test) {
  EXPECT_DOUBLE_EQ(mcnemar(0, 0), 1);
  EXPECT_NEAR(mcnemar(1, 9), 2 * 11.0 / 1024, 1e-12);
  EXPECT_NEAR(mcnemar(9, 1), mcnemar(1, 9), 1e-15);
  EXPECT_DOUBLE_EQ(mcnemar(5, 5), 1);
}

TEST(Perplexity, is_by_word_byte_and_token) {
  const LikelihoodSums one = likelihood_sums("a b", -2, 0);
  EXPECT_EQ(one.words, 2U);
  EXPECT_EQ(likelihood_sums(" a ", -2, 0).words, 3U);  // empty ends count
  EXPECT_EQ(likelihood_sums("", -2, 0).words, 1U);
  LikelihoodSums sum = likelihood_sums("a b", -2, 4);
  sum += likelihood_sums("cde", -1, 2);
  const Perplexities found = perplexities(sum);
  EXPECT_DOUBLE_EQ(found.word_perplexity, std::exp(3.0 / 3));
  EXPECT_DOUBLE_EQ(found.byte_perplexity, std::exp(3.0 / 6));
  EXPECT_DOUBLE_EQ(found.bits_per_byte, 3.0 / 6 / std::log(2.0));
  EXPECT_DOUBLE_EQ(found.perplexity.value(), std::exp(3.0 / 6));
  EXPECT_FALSE(std::signbit(perplexities(likelihood_sums("a", 0, 0)).bits_per_byte));
}

TEST(Choices, are_weighed_by_characters_and_bytes) {
  const std::vector<std::string> choices = {"no", "éééé", "certainly"};
  const std::vector<double> likelihoods = {-2, -3, -4.5};
  const std::array<std::size_t, 1> first = {0}, second = {1}, third = {2};
  // −2 is the greatest; by characters −1, −0.75, −0.5; by bytes −1, −0.375, −0.5.
  EXPECT_EQ(choice_scores(choices, likelihoods, first).acc, 1);
  EXPECT_EQ(choice_scores(choices, likelihoods, third).acc_norm, 1);
  EXPECT_EQ(choice_scores(choices, likelihoods, second).acc_bytes, 1);
  EXPECT_EQ(choice_scores(choices, likelihoods, second).acc, 0);
  const std::vector<double> equal = {-1, -1, -1};
  EXPECT_EQ(choice_scores(choices, equal, first).acc, 1);  // the first of equals
  const std::array<std::size_t, 2> either = {0, 2};
  EXPECT_EQ(choice_scores(choices, likelihoods, either).acc_norm, 1);
}

TEST(PassAtK, is_unbiased) {
  EXPECT_DOUBLE_EQ(pass_at_k(5, 2, 1).value(), 0.4);
  EXPECT_DOUBLE_EQ(pass_at_k(5, 2, 2).value(), 0.7);  // 1 − C(3,2)/C(5,2)
  EXPECT_DOUBLE_EQ(pass_at_k(5, 0, 3).value(), 0);
  EXPECT_DOUBLE_EQ(pass_at_k(5, 3, 3).value(), 1);
  EXPECT_FALSE(pass_at_k(5, 3, 6));
  EXPECT_NEAR(pass_at_k(100'000, 1, 10).value(), 1e-4, 1e-9);
}

TEST(Ranking, is_trec_evals) {
  const std::array<std::uint32_t, 1> two = {2};
  const auto found =
      rank_scores({{"a", 3}, {"b", 2}, {"c", 1}}, {{"a", 0}, {"b", 1}, {"c", 2}, {"d", 1}, {"e", -1}}, two).value();
  const double second = 1 / std::log2(3.0);
  EXPECT_DOUBLE_EQ(found.at[0].ndcg, second / (2 + second));
  EXPECT_DOUBLE_EQ(found.at[0].recall, 1.0 / 3);
  EXPECT_DOUBLE_EQ(found.at[0].precision, 0.5);
  EXPECT_DOUBLE_EQ(found.mrr, 0.5);
  EXPECT_DOUBLE_EQ(found.map, (1.0 / 2 + 2.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(rank_scores({{"a", 1}, {"b", 1}}, {{"b", 1}}, two)->mrr, 1);  // the greater id first
  EXPECT_DOUBLE_EQ(rank_scores({}, {{"b", 1}}, two)->map, 0);
  EXPECT_FALSE(rank_scores({{"a", 1}}, {{"a", 0}}, two));
}

class ToolCalls : public testing::Test {
 protected:
  static json::Value tree(std::string_view text, json::Document& document) {
    const auto value = json::parse(text, document);
    EXPECT_TRUE(value) << text;
    return value.value_or(json::Value());
  }
  static std::string accuracy(std::string_view calls, std::string_view expected) {
    json::Document a, b;
    const CallAccuracy found = call_accuracy(tree(calls, a), tree(expected, b));
    return std::string(found.names ? "names" : "") + (found.names_and_arguments ? "+arguments" : "");
  }
  static std::string match(std::string_view calls, std::string_view expected) {
    json::Document a, b, c;
    return match_calls(tree(calls, a), tree(expected, b),
                       tree(R"([{"name":"f","parameters":{"type":"dict","required":["x"],
      "properties":{"x":{"type":"integer"},"unit":{"type":"string"},"list":{"type":"array"}}}}])",
                            c));
  }
};

TEST_F(ToolCalls, are_compared_by_name_and_arguments) {
  constexpr std::string_view said = R"([{"id":"1","function":{"name":"f","arguments":"{\"x\":1,\"y\":[2]}"}}])";
  EXPECT_EQ(accuracy(said, R"([{"name":"f","arguments":{"y":[2],"x":1.0}}])"), "names+arguments");
  EXPECT_EQ(accuracy(said, R"([{"name":"f","arguments":{"x":1}}])"), "names");
  EXPECT_EQ(accuracy(said, R"([{"name":"g","arguments":{}}])"), "");
  EXPECT_EQ(accuracy(R"([{"name":"f","arguments":"{"}])", R"([{"name":"f","arguments":{}}])"), "names");
  EXPECT_EQ(accuracy(R"([{"name":"g"},{"name":"f"}])", R"([{"name":"f"},{"name":"g"}])"), "names");
  EXPECT_EQ(accuracy("null", "[]"), "names+arguments");
}

TEST_F(ToolCalls, are_matched_as_bfcl_does) {
  constexpr std::string_view expected = R"([{"f":{"x":[1,2],"unit":["km","kilometres",""]}}])";
  EXPECT_EQ(match(R"([{"name":"f","arguments":{"x":2}}])", expected), "");
  EXPECT_EQ(match(R"([{"name":"f","arguments":{"x":1,"unit":"Kilo-Metres"}}])", expected), "");
  EXPECT_EQ(match(R"([{"name":"f","arguments":{"x":3}}])", expected), "f: x has another value than expected");
  EXPECT_EQ(match(R"([{"name":"f","arguments":{"x":"1"}}])", expected), "f: x is no integer");
  EXPECT_EQ(match(R"([{"name":"f","arguments":{"x":1.0}}])", expected), "f: x is no integer");  // Python's float
  EXPECT_EQ(match(R"([{"name":"f","arguments":{"unit":"km"}}])", expected), "f: the required parameter x is missing");
  EXPECT_EQ(match(R"([{"name":"f","arguments":{"x":1,"z":1}}])", expected), "f: the parameter z is not expected");
  EXPECT_EQ(match(R"([{"name":"f","arguments":{"x":1}}])", R"([{"f":{"x":[1],"unit":["km"]}}])"),
            "f: the parameter unit is missing");
  EXPECT_EQ(match(R"([{"name":"g","arguments":{}}])", expected), "calls g instead of f");
  EXPECT_EQ(match("[]", expected), "0 calls instead of 1");
  EXPECT_EQ(match(R"([{"name":"f","arguments":"no"}])", expected), "the answer holds a call that is none");
  // In any order.
  EXPECT_EQ(match(R"([{"name":"f","arguments":{"x":2}},{"name":"f","arguments":{"x":1}}])",
                  R"([{"f":{"x":[1]}},{"f":{"x":[2]}}])"),
            "");
  EXPECT_EQ(match(R"([{"name":"f","arguments":{"x":1,"list":["A b",2]}}])", R"([{"f":{"x":[1],"list":[["ab",2]]}}])"),
            "");
}

}  // namespace
}  // namespace stackgate::evaluator
