// A line in, a line out: definitions by numbers worked out by hand, and what is wrong with its place.
#include "services/evaluator/score/score_line.hpp"

#include <cmath>
#include <string>

#include <gmock/gmock.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace {

/// Scores by name; NaN for null.
class Scored {
 public:
  explicit Scored(const std::string& metric, const std::string& items, const std::string& params = "{}")
      : text_(score_line(R"({"id":7,"metric":")" + metric + R"(","params":)" + params + R"(,"items":)" + items + "}")) {
    root_ = json::parse(text_, document_).value();
    EXPECT_EQ(json::integer(&root_, {"id"}), 7) << text_;
    EXPECT_NE(root_.find("scores"), nullptr) << text_;
  }
  bool has(std::string_view name) const { return json::at(&root_, {"scores", name}) != nullptr; }
  double operator[](std::string_view name) const {
    const json::Value* found = json::at(&root_, {"scores", name});
    EXPECT_NE(found, nullptr) << name << " of " << text_;
    return found == nullptr || found->is_null() ? NAN : found->number();
  }
  double at(std::string_view name, std::size_t i) const { return json::items(&root_, {"scores", name})[i].number(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  json::Document document_;
  json::Value root_;
};

std::string pairs(std::string_view prediction, std::string_view references) {
  return R"([{"prediction":")" + std::string(prediction) + R"(","references":[)" + std::string(references) + "]}]";
}

TEST(ScoreLine, of_exact_match_ignores_in_order) {
  EXPECT_EQ(Scored("exact_match", pairs("Paris", R"("London","Paris")"))["exact_match"], 1);
  EXPECT_EQ(Scored("exact_match", pairs(" Paris", R"("Paris")"))["exact_match"], 0);
  EXPECT_EQ(Scored("exact_match", pairs(" Paris\\t", R"("Paris")"), R"({"strip":true})")["exact_match"], 1);
  EXPECT_EQ(Scored("exact_match", pairs("ÉTÉ", R"("été")"), R"({"ignore_case":true})")["exact_match"], 1);
  EXPECT_EQ(Scored("exact_match", pairs("$1,000.", R"("1000")"), R"({"ignore_punctuation":true})")["exact_match"], 1);
  EXPECT_EQ(Scored("exact_match", pairs("a1b22", R"("ab")"), R"({"ignore_numbers":true})")["exact_match"], 1);
  // The patterns come first, so they see the case; what they leave is stripped last.
  EXPECT_EQ(Scored("exact_match", pairs("ANSWER: x", R"("x")"),
                   R"({"regexes_to_ignore":["ANSWER:"],"ignore_case":true,"strip":true})")["exact_match"],
            1);
  EXPECT_EQ(Scored("exact_match", pairs("answer: x", R"("x")"),
                   R"({"regexes_to_ignore":["ANSWER:"],"ignore_case":true,"strip":true})")["exact_match"],
            0);
  // Precomposed and not: other code points.
  EXPECT_EQ(Scored("exact_match", pairs("\\u00e9", R"("e\u0301")"))["exact_match"], 0);
}

TEST(ScoreLine, has_errors_of_means) {
  const Scored two("exact_match", R"([{"prediction":"a","references":["a"]},{"prediction":"b","references":["a"]},
      {"prediction":"a","references":["a"]},{"prediction":"a","references":["a"]}])");
  EXPECT_DOUBLE_EQ(two["exact_match"], 0.75);
  EXPECT_DOUBLE_EQ(two["exact_match_stderr"], 0.25);  // s² = (3 · 0.25² + 0.75²) / 3 = 0.25; √(0.25 / 4)
  EXPECT_TRUE(std::isnan(Scored("f1", pairs("a", R"("a")"))["f1_stderr"]));
  EXPECT_TRUE(Scored("f1", "[]").text().contains(R"("f1":null,"f1_stderr":null)"));
}

TEST(ScoreLine, of_f1_takes_articles_out_as_words) {
  EXPECT_DOUBLE_EQ(Scored("f1", pairs("The cat", R"("a cat sat")"))["f1"], 2.0 / 3);
  EXPECT_EQ(Scored("f1", pairs("the", R"("a")"))["f1"], 1);  // both are empty
  EXPECT_EQ(Scored("f1", pairs("the", R"("cat")"))["f1"], 0);
  EXPECT_EQ(Scored("f1", pairs("theory", R"("ory")"))["f1"], 0);
}

TEST(ScoreLine, of_bleu_sums_over_the_corpus) {
  const Scored one("bleu", R"([{"prediction":"the cat sat","references":["the cat sat on it"]},
                               {"prediction":"a dog","references":["a dog"]}])");
  // 5 of 5 words, 3 of 3 pairs, 1 of 1; no run of four: 0.
  EXPECT_EQ(one["bleu"], 0);
  EXPECT_DOUBLE_EQ(one["bp"], std::exp(1 - 7.0 / 5));
  EXPECT_EQ(one["sys_len"], 5);
  EXPECT_EQ(one["ref_len"], 7);
  EXPECT_DOUBLE_EQ(one.at("precisions", 2), 100);
  EXPECT_DOUBLE_EQ(one["sentence_bleu"], (100 * std::exp(1 - 5.0 / 3) + 100) / 2);
  const Scored effective("bleu", pairs("the cat sat", R"("the cat sat on it")"), R"({"effective_order":true})");
  EXPECT_DOUBLE_EQ(effective["bleu"], 100 * std::exp(1 - 5.0 / 3));
  EXPECT_EQ(Scored("bleu", pairs("x y z w", R"("a b c d")"))["bleu"], 0);
  EXPECT_NEAR(Scored("bleu", pairs("a, b c d", R"("a , b c d")"))["bleu"], 100, 1e-9);
  EXPECT_LT(Scored("bleu", pairs("a, b c d", R"("a , b c d")"), R"({"tokenize":"none"})")["bleu"], 100);
}

TEST(ScoreLine, of_rouge_takes_each_kinds_best_reference) {
  // "caf" of café: é parts words. Of the first reference 2/3 and 2/2 words, no pair; of the second 1/3, none.
  const Scored one("rouge", pairs("Café ole yes", R"("caf yes","zzz ole")"));
  EXPECT_DOUBLE_EQ(one["rouge1_precision"], 2.0 / 3);
  EXPECT_DOUBLE_EQ(one["rouge1_recall"], 1);
  EXPECT_DOUBLE_EQ(one["rouge1_fmeasure"], 0.8);
  EXPECT_EQ(one["rouge2_fmeasure"], 0);
  EXPECT_DOUBLE_EQ(one["rougeL_fmeasure"], 0.8);
  EXPECT_TRUE(one.has("rougeL_fmeasure_stderr"));
}

TEST(ScoreLine, of_perplexity_counts_words_with_empty_ends) {
  // " a b " is five parts … "", "a", "b", "": four. Five bytes.
  const Scored one("perplexity", R"([{"text":" a b ","loglikelihood":-4}])");
  EXPECT_DOUBLE_EQ(one["word_perplexity"], std::exp(1.0));
  EXPECT_DOUBLE_EQ(one["byte_perplexity"], std::exp(0.8));
  EXPECT_DOUBLE_EQ(one["bits_per_byte"], 0.8 / std::log(2));
  EXPECT_FALSE(one.has("perplexity"));
  const Scored tokens("perplexity", R"([{"text":"ab","token_logprobs":[-1,-2]},{"text":"c","token_logprobs":[-3]}])");
  EXPECT_DOUBLE_EQ(tokens["perplexity"], std::exp(2.0));
  EXPECT_DOUBLE_EQ(tokens["byte_perplexity"], std::exp(2.0));
  EXPECT_TRUE(std::isnan(Scored("perplexity", R"([{"text":"","loglikelihood":-1}])")["byte_perplexity"]));
  EXPECT_TRUE(std::isnan(Scored("perplexity", R"([{"text":"a","loglikelihood":-1e6}])")["byte_perplexity"]));
}

TEST(ScoreLine, of_choices_divides_by_characters_and_bytes) {
  // Sums: the second. By character −1/2 and −0.9/1; by byte −1/4 and −0.9/1: the first, both times.
  const Scored one("multiple_choice", R"([{"choices":["éé","a"],"loglikelihoods":[-1,-0.9],"gold":0}])");
  EXPECT_EQ(one["acc"], 0);
  EXPECT_EQ(one["acc_norm"], 1);
  EXPECT_EQ(one["acc_bytes"], 1);
  EXPECT_EQ(Scored("multiple_choice", R"([{"choices":["a","b"],"loglikelihoods":[-1,-1],"gold":1}])")["acc"], 0);
  EXPECT_EQ(Scored("multiple_choice", R"([{"choices":["a","b"],"loglikelihoods":[-2,-1],"gold":[0,1]}])")["acc"], 1);
}

TEST(ScoreLine, of_programs_leaves_out_a_k_beyond_some_n) {
  const Scored one("pass_at_k", R"([{"n":4,"c":2},{"n":2,"c":0}])", R"({"k":[1,2,3]})");
  EXPECT_DOUBLE_EQ(one["pass@1"], 0.25);
  EXPECT_DOUBLE_EQ(one["pass@2"], (1 - 1.0 / 6) / 2);
  EXPECT_FALSE(one.has("pass@3"));
  EXPECT_TRUE(one.has("pass@1_stderr"));
}

TEST(ScoreLine, of_rankings_is_trec_evals) {
  const Scored one("ranking", R"([{"run":{"a":1,"b":1,"c":0.5},"qrels":{"a":2,"c":1,"d":1,"b":0}},
      {"run":{"a":1},"qrels":{"a":0}},{"run":{},"qrels":{"x":1}}])",
                   R"({"k":[2]})");
  // The first query: b before a (greater id), then c. Gains 0, 2; ideal 2, 1.
  const double dcg = 2 / std::log2(3.0), ideal = 2 + 1 / std::log2(3.0);
  EXPECT_DOUBLE_EQ(one["ndcg@2"], dcg / ideal / 2);
  EXPECT_DOUBLE_EQ(one["recall@2"], 1.0 / 3 / 2);
  EXPECT_DOUBLE_EQ(one["precision@2"], 0.25);
  EXPECT_DOUBLE_EQ(one["mrr"], 0.25);
  EXPECT_DOUBLE_EQ(one["map"], (0.5 + 2.0 / 3) / 3 / 2);
  EXPECT_EQ(one["queries"], 2);
  EXPECT_EQ(one["skipped"], 1);
}

TEST(ScoreLine, of_calls_and_checks) {
  const Scored calls("tool_calls", R"([{"calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}}],
      "expected":[{"name":"f","arguments":{"a":2}}]}])");
  EXPECT_EQ(calls["function_name_accuracy"], 1);
  EXPECT_EQ(calls["function_name_and_args_accuracy"], 0);
  const Scored tree("tool_calls", R"([{"calls":[{"name":"f","arguments":{"a":1}}],"expected":[{"f":{"a":[1,2]}}],
      "functions":[{"name":"f","parameters":{"type":"dict","properties":{"a":{"type":"integer"}},"required":["a"]}}]}])");
  EXPECT_EQ(tree["ast_match"], 1);
  EXPECT_EQ(Scored("string_check", pairs("abc", R"("c")"), R"({"operation":"ends with"})")["string_check"], 1);
  EXPECT_NEAR(Scored("chrf", pairs("abc def", R"("abc def")"))["chrf"], 100, 1e-9);
}

TEST(ScoreLine, says_what_is_wrong_and_where) {
  struct Row {
    std::string line, path, message;
  };
  const std::string f1 = R"({"id":"x","metric":"f1",)";
  for (const Row& row : {
           Row{"nonsense", "", "is no JSON"},
           Row{R"({"id":1,"id":2})", "", "is no JSON: duplicate key"},
           Row{"[1]", "", "is array"},
           Row{R"({"id":"x","items":[]})", "metric", "is missing"},
           Row{R"({"id":"x","metric":"blue","items":[]})", "metric", R"(did you mean "bleu"?)"},
           Row{R"({"id":"x","metric":"zzzzzz","items":[]})", "metric", "write one of exact_match, "},
           Row{f1 + R"("itmes":[]})", "itmes", R"(did you mean "items"?)"},
           Row{f1 + R"("items":{}})", "items", "is object"},
           Row{f1 + R"("items":[3]})", "items[0]", "is integer"},
           Row{f1 + R"("items":[{"references":["a"]}]})", "items[0].prediction", "is missing"},
           Row{f1 + R"("items":[{"prediction":"a","references":[]}]})", "items[0].references", "is empty"},
           Row{f1 + R"("items":[{"prediction":"a","references":["b",3]}]})", "items[0].references[1]", "is integer"},
           Row{f1 + R"("items":[],"params":{"k":1}})", "params.k", "is not known; leave it out"},
           Row{R"({"metric":"exact_match","items":[],"params":{"ignore_cas":true}})", "params.ignore_cas",
               R"(did you mean "ignore_case"?)"},
           Row{R"({"metric":"exact_match","items":[],"params":{"strip":1}})", "params.strip", "write true or false"},
           Row{R"({"metric":"exact_match","items":[],"params":{"regexes_to_ignore":["("]}})",
               "params.regexes_to_ignore", "is no pattern"},
           Row{R"({"metric":"bleu","items":[],"params":{"tokenize":"zh"}})", "params.tokenize", R"("13a" or "none")"},
           Row{R"({"metric":"pass_at_k","items":[],"params":{"k":[0]}})", "params.k", "whole number"},
           Row{R"({"metric":"pass_at_k","items":[{"n":1,"c":2}]})", "items[0].c", "greater than n"},
           Row{R"({"metric":"pass_at_k","items":[{"n":1.5,"c":1}]})", "items[0].n", "is number"},
           Row{R"({"metric":"multiple_choice","items":[{"choices":["a"],"loglikelihoods":[-1,-2],"gold":0}]})",
               "items[0].loglikelihoods", "has 2 numbers"},
           Row{R"({"metric":"multiple_choice","items":[{"choices":["a"],"loglikelihoods":[-1],"gold":1}]})",
               "items[0].gold", "is no index"},
           Row{R"({"metric":"perplexity","items":[{"text":"a"}]})", "items[0].loglikelihood", "is missing"},
           Row{R"({"metric":"perplexity","items":[{"text":"a","token_logprobs":[null]}]})",
               "items[0].token_logprobs[0]", "is null"},
           Row{R"({"metric":"ranking","items":[{"run":{"a":"1"},"qrels":{}}]})", "items[0].run.a", "is string"},
       }) {
    const std::string out = score_line(row.line);
    json::Document document;
    const json::Value root = json::parse(out, document).value();
    EXPECT_EQ(json::text(&root, {"error", "path"}), row.path) << out;
    EXPECT_THAT(std::string(json::text(&root, {"error", "message"})), testing::HasSubstr(row.message)) << out;
    EXPECT_EQ(json::text(&root, {"id"}), row.line.contains(R"("id":"x")") ? "x" : "") << out;
  }
  EXPECT_TRUE(score_line_too_long().contains("64 MiB"));
}

TEST(ScoreLine, keeps_any_id) {
  EXPECT_TRUE(score_line(R"({"id":{"a":[1]},"metric":"f1","items":[]})").starts_with(R"({"id":{"a":[1]},"scores")"));
  EXPECT_TRUE(score_line(R"({"metric":"f1","items":[]})").starts_with(R"({"id":null,"scores")"));
}

}  // namespace
}  // namespace stackgate::evaluator
