#include "services/evaluator/workflow/protocol/framework_results.hpp"

#include <cmath>

#include <gmock/gmock.h>

namespace stackgate::evaluator {
namespace {

using testing::HasSubstr;

// The members and keys of lm-evaluation-harness 0.4's results_<time>.json.
constexpr std::string_view harness = R"({
  "results": {
    "gsm8k": {"alias": "gsm8k", "exact_match,strict-match": 0.25, "exact_match_stderr,strict-match": 0.0433,
              "exact_match,flexible-extract": 0.5, "exact_match_stderr,flexible-extract": "N/A"},
    "wikitext": {"alias": " - wikitext", "word_perplexity,none": NaN, "word_perplexity_stderr,none": "N/A",
                 "bits_per_byte,none": 0.7, "byte_perplexity,none": Infinity, "text": "NaN in a text, \"Infinity\""}
  },
  "group_subtasks": {}, "configs": {"gsm8k": {"task": "gsm8k"}},
  "versions": {"gsm8k": 3.0, "wikitext": "2"},
  "n-shot": {"gsm8k": 5, "wikitext": 0},
  "higher_is_better": {"gsm8k": {"exact_match": true}, "wikitext": {"word_perplexity": false, "bits_per_byte": null}},
  "n-samples": {"gsm8k": {"original": 1319, "effective": 100}, "wikitext": {"original": 62, "effective": 62}},
  "config": {"model": "local-completions", "limit": 100.0}, "git_hash": "abc", "date": 1.7
})";

TEST(FrameworkResults, of_the_harness_are_read) {
  const auto found = read_framework_results(harness);
  ASSERT_TRUE(found) << found.error();
  ASSERT_EQ(found->size(), 2U);
  const TaskResult& gsm8k = (*found)[0];
  EXPECT_EQ(gsm8k.name, "gsm8k");
  EXPECT_EQ(gsm8k.version, "3");
  EXPECT_EQ(gsm8k.num_fewshot, 5U);
  EXPECT_EQ(gsm8k.samples, 100U);
  ASSERT_EQ(gsm8k.scores.size(), 2U);
  EXPECT_EQ(gsm8k.scores[0].metric, "exact_match");
  EXPECT_EQ(gsm8k.scores[0].name, "exact_match,strict-match");
  EXPECT_EQ(gsm8k.scores[0].value, 0.25);
  EXPECT_EQ(gsm8k.scores[0].error, 0.0433);
  EXPECT_EQ(gsm8k.scores[0].count, 100U);
  EXPECT_TRUE(std::isnan(gsm8k.scores[1].error));

  const TaskResult& wikitext = (*found)[1];
  ASSERT_EQ(wikitext.scores.size(), 3U);
  EXPECT_EQ(wikitext.scores[0].name, "word_perplexity");
  EXPECT_TRUE(std::isnan(wikitext.scores[0].value));
  EXPECT_FALSE(wikitext.scores[0].higher_is_better);
  EXPECT_EQ(wikitext.scores[1].value, 0.7);
  EXPECT_TRUE(wikitext.scores[1].higher_is_better);
  EXPECT_TRUE(std::isnan(wikitext.scores[2].value));
}

TEST(FrameworkResults, of_NeMos_shape_are_read) {
  const auto found = read_framework_results(
      R"({"tasks":{"rag":{"metrics":{"faithfulness":{"scores":{"faithfulness":{"value":0.9,"stats":{"count":3}}}}}}}})");
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[0].scores[0].value, 0.9);
}

TEST(FrameworkResults, that_are_none_say_why) {
  EXPECT_THAT(read_framework_results("").error(), HasSubstr("no JSON"));
  EXPECT_THAT(read_framework_results("{}").error(), HasSubstr("no tasks"));
  EXPECT_THAT(read_framework_results(R"({"results":{}})").error(), HasSubstr("no tasks"));
  EXPECT_THAT(read_framework_results("[]").error(), HasSubstr("no JSON object"));
  EXPECT_THAT(read_framework_results(std::string(33U << 20U, ' ')).error(), HasSubstr("larger than 32 MiB"));
}

TEST(FrameworkResults, that_lie_about_types_have_no_values) {
  const auto found = read_framework_results(
      R"({"results":{"t":{"acc,none":"NaN","acc_stderr,none":[]},"u":7},"versions":[],"n-shot":{"t":-3},"n-samples":{"t":{"effective":"x"}},"higher_is_better":{"t":{"acc":"yes"}}})");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U);
  EXPECT_TRUE(std::isnan((*found)[0].scores[0].value));
  EXPECT_EQ((*found)[0].num_fewshot, 0U);
  EXPECT_TRUE((*found)[1].scores.empty());
}

TEST(WithoutNan, touches_no_texts_and_no_numbers) {
  EXPECT_EQ(without_nan(R"({"a":NaN,"b":-Infinity,"c":[Infinity,-1],"NaN":"NaN \" Infinity","d":-0.5})"),
            R"({"a":null,"b":null,"c":[null,-1],"NaN":"NaN \" Infinity","d":-0.5})");
  EXPECT_EQ(without_nan("\"a\\"), "\"a\\");
}

}  // namespace
}  // namespace stackgate::evaluator
