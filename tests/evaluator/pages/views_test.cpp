#include <gmock/gmock.h>

#include "services/evaluator/pages/views/comparison.hpp"
#include "services/evaluator/pages/views/diff.hpp"
#include "services/evaluator/pages/views/evaluation.hpp"
#include "services/evaluator/pages/views/runs.hpp"
#include "services/evaluator/pages/views/samples.hpp"
#include "services/evaluator/suite/results.hpp"

namespace stackgate::evaluator::pages {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view hostile = "<script>alert(1)</script>";

Evaluation evaluation(State state = State::completed) {
  Evaluation out{.id = "eval-1", .name = "mine", .state = state};
  out.request =
      R"({"name":"mine","framework":"custom","model":"<b>llama</b>","dataset":"hf://datasets/a/b@1","seed":1,"judge":{"model":"j"}})";
  out.created_at = 1'769'875'200;
  const std::vector<TaskResult> tasks{
      {.name = "qa",
       .version = "1",
       .num_fewshot = 2,
       .samples = 10,
       .failed = 1,
       .scores = {{.metric = "acc", .name = "acc", .value = 0.5, .error = 0.1667, .count = 9, .nan_count = 1},
                  {.metric = "ppl", .name = "ppl", .value = no_value, .higher_is_better = false}}}};
  out.results = results_json(tasks, true);
  return out;
}

TEST(Links, are_escaped) {
  EXPECT_EQ(path_of("a/b?c"), "/evaluations/a%2Fb%3Fc");
  EXPECT_EQ(path_of_samples("mine", "a&b", 19), "/evaluations/mine/samples?task=a%26b&after=19");
  EXPECT_EQ(path_of_samples("mine", "t"), "/evaluations/mine/samples?task=t");
}

TEST(Runs, are_a_table_with_boxes_for_what_is_completed) {
  std::vector<Evaluation> rows{evaluation(), evaluation(State::running)};
  rows[1].name = "second";
  rows[1].progress = R"({"progress": 45.2, "message": "task qa"})";
  const std::string page =
      runs_page({.rows = rows, .state = "running", .page = 1, .pages = 2, .total = 60, .now = 1'769'875'260}).str();
  EXPECT_THAT(page, HasSubstr("60 evaluations"));
  EXPECT_THAT(page, HasSubstr(R"(<input type="checkbox" name="evaluations" value="mine" aria-label="Compare mine">)"));
  EXPECT_THAT(page, Not(HasSubstr(R"(value="second")")));
  EXPECT_THAT(page, HasSubstr(R"(<progress max="100" value="45">45 %</progress>)"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;llama&lt;/b&gt;"));
  EXPECT_THAT(page, HasSubstr("<option selected>running</option>"));
  EXPECT_THAT(page, HasSubstr(R"(<a rel="next" href="./?state=running&amp;page=2">Older</a>)"));
  EXPECT_THAT(page, HasSubstr("1 minute ago"));
  EXPECT_THAT(page, HasSubstr("<thead>"));
}

TEST(Runs, that_are_none_say_what_to_do) {
  EXPECT_THAT(runs_page({}).str(), HasSubstr("POST /v1/evaluations"));
  EXPECT_THAT(runs_page({.state = "failed"}).str(), HasSubstr("No evaluation is like that"));
}

TEST(Progress, is_read_from_whatever_is_there) {
  EXPECT_EQ(read_progress("").percent, -1);
  EXPECT_EQ(read_progress(R"({"progress":"x"})").percent, -1);
  EXPECT_EQ(read_progress(R"({"progress":400})").percent, 100);
  const auto found = read_progress(R"({"progress":4,"task_status":{"qa":"running","x":3}})");
  EXPECT_THAT(found.tasks, ElementsAre(testing::Pair("qa", "running"), testing::Pair("x", "")));
}

TEST(EvaluationPage, has_scores_with_errors_and_what_is_missing) {
  const Evaluation shown = evaluation();
  const std::vector<Event> events{{.number = 1, .at = 1'769'875'200, .message = std::string(hostile)}};
  const std::string page = evaluation_page({.evaluation = shown, .events = events, .now = 1'769'875'200}).str();
  EXPECT_THAT(page, HasSubstr(R"(<td class="number">0.5 <span class="quiet">± 0.1667</span></td>)"));
  EXPECT_THAT(page, HasSubstr("<td>ppl</td><td class=\"number\">–</td>"));
  EXPECT_THAT(page, HasSubstr("(1 are no number)"));
  EXPECT_THAT(page, HasSubstr("1 without scores"));
  EXPECT_THAT(page, HasSubstr("version 1, 2 shots"));
  EXPECT_THAT(page, HasSubstr(R"(<a href="../evaluations/mine/samples?task=qa">10 samples</a>, )"));
  EXPECT_THAT(page, HasSubstr(R"(href="../v1/evaluations/mine/results?format=zip")"));
  EXPECT_THAT(page, HasSubstr("<dt>Judge</dt><dd>j</dd>"));
  EXPECT_THAT(page, AllOf(Not(HasSubstr(std::string(hostile))), Not(HasSubstr("data-live"))));
}

TEST(EvaluationPage, asks_for_its_changes_while_it_runs) {
  Evaluation shown = evaluation(State::running);
  shown.progress = R"({"progress":10,"task_status":{"qa":"running"}})";
  shown.warnings =
      R"([{"loc":["body","judge"],"msg":"is the model that is judged","type":"w"},{"path":"seed","problem":"x"}])";
  const std::string page = evaluation_page({.evaluation = shown}).str();
  EXPECT_THAT(page,
              HasSubstr(R"(<div data-live="../evaluations/mine/live" aria-live="polite"><div data-state="running">)"));
  EXPECT_THAT(page, HasSubstr("<li>qa: running</li>"));
  EXPECT_THAT(page, HasSubstr("<li><code>judge</code> is the model that is judged</li><li><code>seed</code> x</li>"));
  EXPECT_THAT(live_part({.evaluation = evaluation()}).str(), HasSubstr(R"(data-state="final")"));
}

TEST(EvaluationPage, says_why_it_failed) {
  Evaluation shown = evaluation(State::failed);
  shown.message = "the endpoint is away";
  shown.results.clear();
  const std::string page = evaluation_page({.evaluation = shown}).str();
  EXPECT_THAT(page, HasSubstr(R"(<p class="notice bad" role="alert">the endpoint is away</p>)"));
  EXPECT_THAT(page, HasSubstr("There are no results."));
  shown.results = "nonsense";
  EXPECT_THAT(evaluation_page({.evaluation = shown}).str(), HasSubstr("The results cannot be read"));
}

std::vector<std::string> marked(const std::vector<DiffPart>& parts) {
  std::vector<std::string> out;
  for (const DiffPart& each : parts) out.push_back((each.differs ? "!" : "") + std::string(each.text));
  return out;
}

TEST(Diff, marks_words_that_the_other_side_has_not) {
  const Diff found = diff_of("the cat sat on the mat", "the dog sat on a mat");
  EXPECT_THAT(marked(found.left), ElementsAre("the ", "!cat ", "sat on ", "!the ", "mat"));
  EXPECT_THAT(marked(found.right), ElementsAre("the ", "!dog ", "sat on ", "!a ", "mat"));
}

TEST(Diff, loses_no_character) {
  for (const auto& [left, right] : {std::pair<std::string_view, std::string_view>{"", ""},
                                    {"  a\n b ", "b"},
                                    {"x", ""},
                                    {"   ", "a"},
                                    {"a b c", "a b c"},
                                    {"a\tb", "b a"}}) {
    const Diff found = diff_of(left, right);
    std::string a, b;
    for (const DiffPart& each : found.left) a += each.text;
    for (const DiffPart& each : found.right) b += each.text;
    EXPECT_EQ(a, left);
    EXPECT_EQ(b, right);
  }
}

TEST(Diff, has_bounds) {
  std::string many;
  for (int i = 0; i < 600; ++i) many += "w ";
  const Diff found = diff_of(many, "w");
  EXPECT_FALSE(found.is_compared);
  EXPECT_THAT(marked(found.left), ElementsAre(many));
}

TEST(Samples, are_shown_whichever_suite_wrote_them) {
  const ShownSample row = read_shown_sample(
      R"({"prompt":"2+2?","output_text":"5","reference":"4","scores":{"em":0,"f1":null},"reason":"wrong"})");
  EXPECT_EQ(row.question, "2+2?");
  EXPECT_EQ(row.expected, "4");
  EXPECT_EQ(row.answer, "5");
  EXPECT_EQ(row.reason, "wrong");
  EXPECT_THAT(row.scores, ElementsAre(testing::Pair("em", "0"), testing::Pair("f1", "null")));
  EXPECT_EQ(read_shown_sample(R"({"target":"x","filtered_resps":["y"]})").answer, "y");
  EXPECT_EQ(read_shown_sample(R"({"references":["a","b"],"fault":"no answer"})").expected, R"(["a","b"])");
  EXPECT_EQ(read_shown_sample("nonsense").answer, "");
}

TEST(Samples, stand_side_by_side_with_what_differs) {
  const Evaluation shown = evaluation();
  const std::vector<std::string> tasks{"qa", "other"};
  const std::vector<Sample> rows{
      {.task = "qa", .number = 7, .record = R"({"reference":"a b","output_text":"a <c>","scores":{"em":0}})"}};
  const std::string page =
      samples_page({.evaluation = shown, .tasks = tasks, .task = "qa", .rows = rows, .after = 6, .more = true}).str();
  EXPECT_THAT(page, HasSubstr("<h3>Expected</h3><pre>a <del>b</del></pre>"));
  EXPECT_THAT(page, HasSubstr("<h3>Answer</h3><pre>a <ins>&lt;c&gt;</ins></pre>"));
  EXPECT_THAT(page, HasSubstr(R"(aria-current="page">qa</a>)"));
  EXPECT_THAT(page,
              HasSubstr(R"(<a rel="next" href="../../evaluations/mine/samples?task=qa&amp;after=7">Next page</a>)"));
  EXPECT_THAT(page, HasSubstr("<li>em <b>0</b></li>"));
}

Comparison comparison() {
  Comparison out{.evaluations = {"a", "b"}, .wins = {0, 1}, .winner = 1};
  ComparedScore score{.task = "qa", .metric = "acc", .name = "acc", .winner = 1};
  score.values = {{.value = 0.5, .error = 0.01}, {.value = 0.6, .error = 0.01}};
  score.differences = {{1,
                        {.delta = 0.1,
                         .error = 0.014,
                         .low = 0.07,
                         .high = 0.13,
                         .p_value = 0.001,
                         .test = "mcnemar",
                         .items = 100,
                         .significant = true,
                         .better = 1}}};
  out.scores = {score};
  return out;
}

TEST(ComparisonPage, has_winners_bars_and_differences) {
  const std::string page = comparison_page(comparison()).str();
  EXPECT_THAT(page, HasSubstr("b wins 1 of 1 score; 0 are ties."));
  EXPECT_THAT(page, HasSubstr(R"(<td class="number win">0.6 <span class="quiet">± 0.01</span></td><td>b</td>)"));
  EXPECT_THAT(
      page,
      HasSubstr(R"(<title id="chart-0-title">acc by task</title><desc id="chart-0-text">qa: a 0.5, b 0.6</desc>)"));
  EXPECT_THAT(page,
              HasSubstr("+0.1</td><td class=\"number\">+0.07 to +0.13</td><td class=\"number\">0.001</td><td>McNemar’s "
                        "test</td><td><span class=\"good-ink\">better</span>"));
  EXPECT_THAT(page, HasSubstr("95 % confidence"));
}

TEST(ComparisonPage, says_that_there_is_no_winner) {
  Comparison tied = comparison();
  tied.winner.reset();
  tied.scores[0].winner.reset();
  tied.ties = 1;
  tied.warnings = {{.rule = "r", .problem = std::string(hostile), .fix = "f"}};
  const std::string page = comparison_page(tied).str();
  EXPECT_THAT(page, HasSubstr("No overall winner: 1 of 1 score are ties."));
  EXPECT_THAT(page, HasSubstr("<td>tie</td>"));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
}

TEST(ComparisonPage, that_is_refused_says_why_and_how_to_go_on) {
  const std::string page =
      comparison_refused({{.rule = "comparison-differs", .problem = "the seed differs", .fix = "force it"}},
                         {"/comparisons?evaluations=a%2Cb&force=1"})
          .str();
  EXPECT_THAT(page, HasSubstr("the seed differs"));
  EXPECT_THAT(page, HasSubstr(R"(href="/comparisons?evaluations=a%2Cb&amp;force=1">Compare nevertheless</a>)"));
  EXPECT_THAT(comparison_refused({}, {}).str(), Not(HasSubstr("nevertheless")));
}

}  // namespace
}  // namespace stackgate::evaluator::pages
