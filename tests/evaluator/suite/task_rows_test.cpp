#include "services/evaluator/suite/task_rows.hpp"

#include <cmath>

#include <gmock/gmock.h>

#include "services/evaluator/suite/joined_rows.hpp"
#include "services/evaluator/suite/mean_scores.hpp"
#include "services/evaluator/suite/questions.hpp"
#include "services/kit/json/read.hpp"
#include "tests/evaluator/suite_support.hpp"

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(TaskRows, files_are_those_named_after_the_task_or_all) {
  const std::vector<std::string> paths = {"README.md", "a.jsonl", "deep/HumanEval.json", "deep/humaneval.txt"};
  validate::Findings findings;
  EXPECT_THAT(files_of_task("humaneval", true, paths, findings), ElementsAre("deep/HumanEval.json"));
  EXPECT_THAT(files_of_task("other", true, paths, findings), ElementsAre("a.jsonl", "deep/HumanEval.json"));
  EXPECT_THAT(findings, IsEmpty());
  EXPECT_THAT(files_of_task("other", false, paths, findings), IsEmpty());
  EXPECT_THAT(files_of_task("other", true, std::vector<std::string>{"README.md"}, findings), IsEmpty());
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_THAT(findings[0].problem, HasSubstr("no file of the task other"));
  EXPECT_THAT(findings[1].problem, HasSubstr("no file of rows"));
  EXPECT_EQ(rows_file_stem("x/.jsonl"), "");
  EXPECT_EQ(rows_file_stem("x.jsonl/y.csv"), "");
}

TEST(TaskRows, rows_of_several_files_are_bounded_together) {
  const test::Files files = {{"a.jsonl", "{\"n\":1}\n\n{\"n\":2}\n"}, {"b.json", "[{\"n\":3},{\"n\":4}]"}};
  const DataSource source = test::source_of(files);
  validate::Findings findings;
  const TaskRows rows = read_task_rows({"a.jsonl", "gone.jsonl", "b.json"}, source, 3, findings);
  ASSERT_THAT(rows.rows, SizeIs(3));
  EXPECT_EQ(rows.rows[1].line, 3U);
  EXPECT_EQ(rows.rows[2].file, 2U);
  EXPECT_EQ(rows.rows[2].text, R"({"n":3})");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].path, "gone.jsonl");
}

TEST(TaskRows, findings_are_the_first_of_each_file) {
  const TaskRows rows{.files = {"a", "b"}};
  validate::Findings findings;
  RowFindings wrong(rows, findings);
  EXPECT_FALSE(wrong.any());
  for (std::uint32_t i = 0; i < 30; ++i) wrong.add({.file = 0, .line = i + 1}, "p", "f");
  wrong.add({.file = 1, .line = 7}, "p", "f");
  EXPECT_TRUE(wrong.any());
  ASSERT_THAT(findings, SizeIs(21));
  EXPECT_EQ(findings[19].path, "a:20");
  EXPECT_EQ(findings[20].path, "b:7");
}

TEST(JoinedRows, rows_get_what_others_have_by_their_ids) {
  TaskRows rows{.files = {"q"},
                .rows = {{.text = R"({"id":1})", .line = 1},
                         {.text = R"({"id":"x","a":"own"})", .line = 2},
                         {.text = R"({"id":3})", .line = 3},
                         {.text = R"({"id":4})", .line = 4},
                         {.text = R"({"id":5})", .line = 5}}};
  const std::vector<DataRow> other = {
      {R"({"id":1,"v":[1]})", 1}, {R"({"id":"x","v":[2]})", 2}, {R"({"id":4,"v":[4]})", 3}};
  validate::Findings findings;
  RowFindings wrong(rows, findings);
  join_rows(rows, 0, "other", other,
            {.id = "id", .member = "a", .value = [](const json::Value& row) { return json::value_at(&row, {"v"}); }},
            wrong);
  EXPECT_EQ(rows.rows[0].text, R"({"id":1,"a":[1]})");
  EXPECT_EQ(rows.rows[1].text, R"({"id":"x","a":"own"})");
  EXPECT_EQ(rows.rows[3].text, R"({"id":4,"a":[4]})");
  EXPECT_EQ(rows.rows[4].text, R"({"id":5})");  // behind the last that is known
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].path, "q:3");
}

TEST(MeanScores, leave_out_and_count_what_is_no_number) {
  const std::vector<std::vector<double>> values = {{1, 2}, {3, no_value}, {5}};
  const Score first = mean_score("m", "n", column_of(values, 0)), second = mean_score("m", "n", column_of(values, 1));
  EXPECT_DOUBLE_EQ(first.value, 3);
  EXPECT_EQ(first.count, 3U);
  EXPECT_DOUBLE_EQ(second.value, 2);
  EXPECT_EQ(second.nan_count, 2U);
  EXPECT_DOUBLE_EQ(first.spread.sum, 9);
  EXPECT_DOUBLE_EQ(first.spread.mean, 3);
  EXPECT_EQ(first.spread.least, 1);
  EXPECT_EQ(first.spread.most, 5);
  EXPECT_DOUBLE_EQ(first.spread.deviation, 2);  // (4 + 0 + 4) / 2 is 4
  EXPECT_EQ(second.spread.most, 2);
  EXPECT_TRUE(std::isnan(second.spread.deviation));
}

TEST(Questions, have_the_settings_of_the_evaluation) {
  EvaluationRequest request;
  request.requests.max_tokens = 7;
  request.seed = 9;
  const Question prompt = ask_model(request, "p").question;
  EXPECT_FALSE(prompt.is_chat());
  EXPECT_EQ(prompt.prompt, "p");
  EXPECT_EQ(prompt.max_tokens, 7U);
  EXPECT_EQ(prompt.temperature, 0);
  EXPECT_EQ(prompt.seed, 9U);
  request.requests.chat = true;
  request.requests.temperature = 0.5;
  EXPECT_TRUE(ask_model(request, "p").question.is_chat());
  EXPECT_EQ(ask_model(request, "p").question.temperature, 0.5);
  const Asked judge = ask_judge(request, "p", "s");
  EXPECT_EQ(judge.whom, Whom::judge);
  EXPECT_EQ(judge.question.temperature, 0);
  EXPECT_EQ(judge.question.max_tokens, judge_tokens);
  EXPECT_EQ(test::words_of(judge), "system: s\nuser: p\n");
}

}  // namespace
}  // namespace stackgate::evaluator
