#include <cmath>

#include <gmock/gmock.h>

#include "services/evaluator/suite/rows/make_row_tasks.hpp"
#include "tests/evaluator/suite_support.hpp"

namespace stackgate::evaluator {
namespace {

using test::drive;
using test::Files;
using test::no_reply;
using test::score_named;
using test::source_of;
using test::text_reply;
using test::words_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;

EvaluationRequest similarity() {
  EvaluationRequest out{.name = "e", .framework = Framework::similarity_metrics, .tasks = {"similarity-metrics"}};
  out.requests.chat = true;
  out.rows.prompt = "{{ item.question }}";
  out.rows.reference = "{{ item.answer }}";
  return out;
}
EvaluationRequest judged() {
  EvaluationRequest out = similarity();
  out.framework = Framework::llm_as_judge;
  out.rows.reference = {};
  out.rows.judge_prompt = "Q: {{ item.question }} A: {{ sample.output_text }}";
  out.rows.scores = {{.name = "rating", .pattern = R"(\[\[(\d+)\]\])", .least = 1, .most = 5}};
  out.judge = ModelEndpoint{.url = "http://judge/v1"};
  return out;
}
std::unique_ptr<Task> one_task(const EvaluationRequest& request, const Files& files) {
  auto tasks = make_row_tasks(request, source_of(files));
  if (!tasks) {
    for (const auto& each : tasks.error()) ADD_FAILURE() << each.path << ": " << each.problem;
    return nullptr;
  }
  EXPECT_THAT(*tasks, SizeIs(1));
  return std::move(tasks->front());
}
validate::Findings faults_of(const EvaluationRequest& request, const Files& files) {
  auto tasks = make_row_tasks(request, source_of(files));
  return tasks ? validate::Findings{} : tasks.error();
}
std::vector<std::string> paths_of(const validate::Findings& findings) {
  std::vector<std::string> out;
  for (const auto& each : findings) out.push_back(each.path);
  return out;
}

const Files two_rows = {{"test.jsonl",
                         "{\"question\":\"capital?\",\"answer\":\"Paris\"}\n"
                         "{\"question\":\"river?\",\"answer\":\"the Seine\"}\n"}};

TEST(RowTasks, ask_by_chat_at_temperature_0_and_score_every_metric) {
  const auto task = one_task(similarity(), two_rows);
  const auto driven = drive(*task, 0, [](const Asked&) { return text_reply(" Paris \n"); });
  ASSERT_THAT(driven.asked, SizeIs(1));
  EXPECT_EQ(words_of(driven.asked[0]), "user: capital?\n");
  EXPECT_EQ(driven.asked[0].question.temperature, 0);
  EXPECT_EQ(driven.asked[0].question.seed, 1234U);
  const TaskResult result = test::run(*task, [](const Asked& asked) {
    return text_reply(words_of(asked).contains("capital") ? " Paris \n" : "Seine river");
  });
  EXPECT_EQ(result.samples, 2U);
  EXPECT_EQ(result.failed, 0U);
  EXPECT_THAT(test::names_of(result),
              ElementsAre("accuracy/accuracy", "bleu/bleu_score", "bleu/sentence_bleu_score", "rouge/rouge_1_score",
                          "rouge/rouge_2_score", "rouge/rouge_3_score", "rouge/rouge_L_score", "em/em", "f1/f1",
                          "chrf/chrf_score", "chrf/sentence_chrf_score"));
  EXPECT_DOUBLE_EQ(score_named(result, "accuracy").value, 0.5);
  EXPECT_DOUBLE_EQ(score_named(result, "em").value, 0.5);
  // "Seine river" against "the Seine": SQuAD drops "the", so one of two words, and all of one: 2·½·1 / 1½.
  EXPECT_DOUBLE_EQ(score_named(result, "f1").value, (1 + 2.0 / 3) / 2);
  // ROUGE keeps "the": one of two words on either side.
  EXPECT_DOUBLE_EQ(score_named(result, "rouge_1_score").value, 0.75);
  EXPECT_DOUBLE_EQ(score_named(result, "rouge_1_score").error, 0.25);
  EXPECT_TRUE(std::isnan(score_named(result, "bleu_score").error));
  for (const Score& each : result.scores) EXPECT_TRUE(each.value >= 0 && each.value <= 1) << each.name;
}

TEST(RowTasks, corpus_scores_are_of_sums_and_not_means_of_sentences) {
  EvaluationRequest request = similarity();
  request.rows.metrics = {"bleu", "chrf"};
  const auto task = one_task(request, {{"a.jsonl",
                                        "{\"question\":\"1\",\"answer\":\"a b c d e\"}\n"
                                        "{\"question\":\"2\",\"answer\":\"v w x y z\"}\n"}});
  const TaskResult result = test::run(
      *task, [](const Asked& asked) { return text_reply(words_of(asked).contains('1') ? "a b c d e" : "v w x y"); });
  // Second sentence: all runs match, shorter by one: exp(1 − 5/4). Corpus: lengths 9 and 10.
  EXPECT_NEAR(score_named(result, "sentence_bleu_score").value, (1 + std::exp(-0.25)) / 2, 1e-12);
  EXPECT_NEAR(score_named(result, "bleu_score").value, std::exp(1 - 10.0 / 9), 1e-12);
  const double sentences = score_named(result, "sentence_chrf_score").value,
               corpus = score_named(result, "chrf_score").value;
  EXPECT_TRUE(corpus > 0 && corpus < 1 && std::abs(corpus - sentences) > 1e-9) << corpus << " " << sentences;
}

TEST(RowTasks, answers_of_the_data_set_are_scored_without_a_question) {
  EvaluationRequest request = similarity();
  request.rows.prompt = {};
  request.rows.response = "{{ item.response }}";
  request.rows.metrics = {"em"};
  const auto task = one_task(request, {{"a.jsonl", R"({"response":"The Paris.","answer":"paris"})"}});
  const auto driven = drive(*task, 0, [](const Asked&) { return no_reply("nobody should be asked"); });
  EXPECT_THAT(driven.asked, IsEmpty());
  EXPECT_THAT(driven.scored.values, ElementsAre(1));
  EXPECT_THAT(driven.scored.record, HasSubstr(R"("output_text":"The Paris.","reference":"paris")"));
}

TEST(RowTasks, texts_of_rows_and_models_are_never_templates) {
  EvaluationRequest request = judged();
  const auto task = one_task(request, {{"a.jsonl", R"({"question":"{{ 7 * 7 }}{% for x in y %}"})"}});
  const auto driven = drive(*task, 0, [](const Asked& asked) {
    return text_reply(asked.whom == Whom::model ? "{{ item }} {% raw %}" : "[[3]]");
  });
  ASSERT_THAT(driven.asked, SizeIs(2));
  EXPECT_EQ(words_of(driven.asked[0]), "user: {{ 7 * 7 }}{% for x in y %}\n");
  EXPECT_EQ(words_of(driven.asked[1]), "user: Q: {{ 7 * 7 }}{% for x in y %} A: {{ item }} {% raw %}\n");
  EXPECT_THAT(driven.scored.values, ElementsAre(3));
}

TEST(RowTasks, several_references_are_a_list) {
  EvaluationRequest request = similarity();
  request.rows.metrics = {"accuracy", "em"};
  const auto task = one_task(request, {{"a.jsonl", R"({"question":"q","answer":["Rome","Paris"]})"}});
  const auto driven = drive(*task, 0, [](const Asked&) { return text_reply("Paris"); });
  EXPECT_THAT(driven.scored.values, ElementsAre(1, 1));
  EXPECT_THAT(driven.scored.record, HasSubstr(R"("references":["Rome","Paris"])"));
}

TEST(RowTasks, checks_are_scores_by_their_names) {
  EvaluationRequest request = similarity();
  request.rows.reference = {};
  request.rows.checks = {{"has", "contains", "{{ item.answer }}"},
                         {"quiet", "not_contains", "!"},
                         {"same", "equals", "{{ item.answer | upper }}"}};
  const auto task = one_task(request, two_rows);
  const TaskResult result = test::run(*task, [](const Asked& asked) {
    return text_reply(words_of(asked).contains("capital") ? "It is Paris" : "THE SEINE");
  });
  EXPECT_THAT(test::names_of(result), ElementsAre("string-check/has", "string-check/quiet", "string-check/same"));
  EXPECT_DOUBLE_EQ(score_named(result, "has").value, 0.5);
  EXPECT_DOUBLE_EQ(score_named(result, "quiet").value, 1);
  EXPECT_DOUBLE_EQ(score_named(result, "same").value, 0.5);
}

TEST(RowTasks, what_a_judge_says_is_read_or_counted) {
  struct Case {
    std::string answer;
    double value;  // 0: none
    std::string why;
  };
  const std::vector<Case> cases = {{"Good. Rating: [[4]], not [[2]]", 4, ""},
                                   {"no rating", 0, "the pattern matches nothing of the answer"},
                                   {"[[9]]", 0, "the judge says 9, which is not between 1 and 5"},
                                   {"[[0]]", 0, "the judge says 0, which is not between 1 and 5"},
                                   {"[[99999999999999999999999999]]", 0, "not between"}};
  const auto task = one_task(judged(), two_rows);
  for (const Case& each : cases) {
    const auto driven = drive(
        *task, 0, [&](const Asked& asked) { return text_reply(asked.whom == Whom::judge ? each.answer : "Paris"); });
    ASSERT_THAT(driven.scored.values, SizeIs(1)) << each.answer;
    EXPECT_EQ(driven.scored.fault, "");
    if (each.value == 0) {
      EXPECT_TRUE(std::isnan(driven.scored.values[0])) << each.answer;
      EXPECT_THAT(driven.scored.record, HasSubstr(each.why));
      EXPECT_THAT(driven.scored.record, HasSubstr(R"("rating":null)"));
    } else {
      EXPECT_EQ(driven.scored.values[0], each.value);
    }
  }
}

TEST(RowTasks, a_judge_or_model_that_is_away_costs_its_sample) {
  const auto task = one_task(judged(), two_rows);
  const auto judge_away = drive(*task, 0, [](const Asked& asked) {
    return asked.whom == Whom::judge ? no_reply("http://judge: timed out") : text_reply("Paris");
  });
  EXPECT_TRUE(std::isnan(judge_away.scored.values.at(0)));
  EXPECT_THAT(judge_away.scored.record, HasSubstr("the judge did not answer: http://judge: timed out"));
  const auto model_away = drive(*task, 0, [](const Asked&) { return no_reply("http://model: refused"); });
  EXPECT_THAT(model_away.asked, SizeIs(1));  // nothing to judge
  EXPECT_EQ(model_away.scored.fault, "http://model: refused");
  EXPECT_THAT(model_away.scored.values, IsEmpty());
  const TaskResult result = test::run(*task, [](const Asked& asked) {
    if (words_of(asked).contains("capital") && asked.whom == Whom::model) return no_reply("away");
    return text_reply("[[x]]");
  });
  EXPECT_EQ(result.failed, 1U);
  EXPECT_EQ(score_named(result, "rating").nan_count, 1U);
  EXPECT_EQ(score_named(result, "rating").count, 0U);
}

TEST(RowTasks, templates_see_the_answers_calls_as_nemo_has_them) {
  EvaluationRequest request = judged();
  request.rows.judge_prompt = "{{ sample.response.choices[0].message.content }}|{{ sample.output_text }}";
  const auto task = one_task(request, two_rows);
  const auto driven = drive(*task, 0, [](const Asked&) { return text_reply("x"); });
  EXPECT_EQ(words_of(driven.asked.at(1)), "user: x|x\n");
}

TEST(RowTasks, every_fault_is_found_before_the_first_question) {
  EvaluationRequest request = judged();
  request.rows.reference = "{{ item.answer";
  request.rows.metrics = {"blue"};
  request.rows.checks = {{"a", "resembles", "x"}, {"b", "equals", "{% oops %}"}};
  request.rows.scores = {{.name = "r", .pattern = "(["}, {.name = "s", .pattern = "no group"}};
  const auto findings = faults_of(request, {{"a.jsonl", "[]"}});
  EXPECT_THAT(paths_of(findings), IsSupersetOf({"params.reference", "params.metrics[0]", "params.checks.a.operation",
                                                "params.checks.b.reference", "params.scores.r.pattern",
                                                "params.scores.s.pattern", "a.jsonl"}));
  for (const auto& each : findings) EXPECT_FALSE(each.problem.empty() || each.fix.empty()) << each.path;
}

TEST(RowTasks, a_row_that_lacks_a_name_is_found_with_its_line) {
  const auto findings = faults_of(judged(), {{"d/a.jsonl", "{\"question\":\"q\"}\n{\"quesion\":\"q\"}\n"}});
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].path, "d/a.jsonl:2");
  EXPECT_THAT(findings[0].problem, HasSubstr("params.prompt"));
  EXPECT_THAT(findings[0].problem, HasSubstr("question"));
  EvaluationRequest other = judged();
  other.rows.judge_prompt = "{{ answer.output_text }}";
  EXPECT_THAT(faults_of(other, {{"a.jsonl", "{\"question\":\"q\"}"}}).at(0).problem, HasSubstr("params.judge_prompt"));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "{}\n";
  EXPECT_THAT(faults_of(judged(), {{"a.jsonl", many}}), SizeIs(20));
}

TEST(RowTasks, files_and_limits) {
  EvaluationRequest request = similarity();
  request.limit = 3;
  const Files files = {{"README.md", "no rows"},
                       {"a.jsonl", two_rows.at("test.jsonl")},
                       {"b/c.json", R"([{"question":"x","answer":"y"},{"question":"z","answer":"w"}])"}};
  EXPECT_EQ(one_task(request, files)->samples(), 3U);
  request.dataset.path = "b";
  EXPECT_EQ(one_task(request, files)->samples(), 2U);
  request.dataset.path = "a.jsonl";
  EXPECT_EQ(one_task(request, files)->samples(), 2U);
  request.dataset.path = "";
  request.tasks = {"A", "c"};
  const auto tasks = make_row_tasks(request, source_of(files));
  ASSERT_TRUE(tasks);
  EXPECT_EQ((*tasks)[0]->samples(), 2U);
  EXPECT_EQ((*tasks)[1]->samples(), 2U);
  request.tasks = {"a", "d"};
  EXPECT_THAT(faults_of(request, files).at(0).problem, HasSubstr("no file of the task d"));
  EXPECT_THAT(faults_of(similarity(), {{"README.md", ""}}).at(0).problem, HasSubstr("no file of rows"));
}

}  // namespace
}  // namespace stackgate::evaluator
