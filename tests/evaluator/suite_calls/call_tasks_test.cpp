#include <cmath>

#include <gmock/gmock.h>

#include "services/evaluator/suite/calls/call_row.hpp"
#include "services/evaluator/suite/calls/functions.hpp"
#include "services/evaluator/suite/calls/make_call_tasks.hpp"
#include "tests/evaluator/suite_support.hpp"

namespace stackgate::evaluator {
namespace {

using test::drive;
using test::Files;
using test::no_reply;
using test::score_named;
using test::source_of;
using test::words_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

EvaluationRequest bfcl(std::vector<std::string> tasks = {"bfcl"}) {
  return {.name = "e", .framework = Framework::bfcl, .tasks = std::move(tasks)};
}
std::unique_ptr<Task> one_task(const EvaluationRequest& request, const Files& files) {
  auto tasks = make_call_tasks(request, source_of(files));
  if (!tasks) {
    for (const auto& each : tasks.error()) ADD_FAILURE() << each.path << ": " << each.problem;
    return nullptr;
  }
  return std::move(tasks->front());
}
validate::Findings faults_of(const Files& files) {
  auto tasks = make_call_tasks(bfcl(), source_of(files));
  return tasks ? validate::Findings{} : tasks.error();
}
/// {"area"} etc.: an answer that calls these.
Reply calls(std::string_view json) { return {.answer = Answer{.tool_calls = std::string(json)}}; }

constexpr std::string_view area_function =
    R"({"name":"math.area","description":"of a rectangle","parameters":{"type":"dict","properties":{"type":{"type":"float","description":"a parameter of this name"},"sides":{"type":"tuple","items":{"type":"float"}}},"required":["sides"]}})";
std::string question(std::string_view id, std::string_view more = {}) {
  return R"({"id":")" + std::string(id) +
         R"(","question":[[{"role":"user","content":"area of 2 by 3?"}]],"function":[)" + std::string(area_function) +
         "]" + std::string(more) + "}\n";
}
constexpr std::string_view truth = R"("ground_truth":[{"math.area":{"sides":[[2,3],[2.0,3.0]],"type":["",1.5]}}])";

TEST(Functions, become_tools_of_json_schema) {
  json::Document document;
  const std::string list = "[" + std::string(area_function) + "]";
  const std::string tools = tools_of(*json::parse(list, document));
  EXPECT_EQ(
      tools,
      R"([{"type":"function","function":{"name":"math_area","description":"of a rectangle","parameters":{"type":"object","properties":{"type":{"type":"number","description":"a parameter of this name"},"sides":{"type":"array","items":{"type":"number"}}},"required":["sides"]}}}])");
  EXPECT_EQ(calls_of(R"([{"id":"1","function":{"name":"math_area","arguments":"{}"}},{"function":{"name":"other"}}])",
                     *json::parse(list, document)),
            R"([{"name":"math.area","arguments":"{}"},{"name":"other","arguments":null}])");
  EXPECT_EQ(calls_of("", {}), "[]");
  EXPECT_EQ(calls_of("{broken", {}), "[]");
}

TEST(CallFiles, say_version_and_category) {
  EXPECT_EQ(call_file("BFCL_v3_live_simple").version, "v3");
  EXPECT_EQ(call_file("BFCL_v3_live_simple").category, "live_simple");
  EXPECT_EQ(call_file("BFCL_v3").category, "BFCL_v3");
  EXPECT_EQ(call_file("tools").category, "tools");
}

TEST(CallTasks, ask_with_tools_and_match_syntax) {
  const auto task = one_task(bfcl(), {{"BFCL_v3_simple.json", question("simple_0", "," + std::string(truth))}});
  const auto right = drive(*task, 0, [](const Asked&) {
    return calls(R"([{"type":"function","function":{"name":"math_area","arguments":"{\"sides\":[2,3]}"}}])");
  });
  ASSERT_THAT(right.asked, SizeIs(1));
  EXPECT_EQ(words_of(right.asked[0]), "user: area of 2 by 3?\n");
  EXPECT_THAT(right.asked[0].question.tools, HasSubstr("math_area"));
  EXPECT_EQ(right.scored.values.at(1), 1) << right.scored.record;
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {R"([])", "0 calls instead of 1"},
      {R"([{"function":{"name":"math_area","arguments":"{}"}}])", "sides is missing"},
      {R"([{"function":{"name":"math_area","arguments":"{\"sides\":[2,4]}"}}])", "another value"},
      {R"([{"function":{"name":"area","arguments":"{\"sides\":[2,3]}"}}])", "instead of math.area"},
      {R"([{"function":{"name":"math_area","arguments":"no json"}}])", "a call that is none"}};
  for (const auto& [answer, why] : wrong) {
    const auto driven = drive(*task, 0, [&](const Asked&) { return calls(answer); });
    EXPECT_EQ(driven.scored.values.at(1), 0) << answer;
    EXPECT_THAT(driven.scored.record, HasSubstr(why));
  }
}

const Files categories = {{"BFCL_v3_simple.json", question("simple_0") + question("simple_1") + question("simple_2")},
                          {"possible_answer/BFCL_v3_simple.json",
                           R"({"id":"simple_0",)" + std::string(truth) + "}\n" + R"({"id":"simple_2",)" +
                               std::string(truth) + "}\n" + R"({"id":"simple_1",)" + std::string(truth) + "}\n"},
                          {"BFCL_v3_irrelevance.json", question("irrelevance_0")},
                          {"BFCL_v3_live_relevance.json", question("live_relevance_0-0-0")}};

TEST(CallTasks, categories_are_averaged_with_and_without_their_sizes) {
  const auto task = one_task(bfcl(), categories);
  ASSERT_EQ(task->samples(), 5U);
  // Files are in the order of their names: irrelevance, live_relevance, simple. A call everywhere, always the right
  // one.
  const TaskResult result = test::run(*task, [](const Asked&) {
    return calls(R"([{"function":{"name":"math_area","arguments":"{\"sides\":[2.0,3.0]}"}}])");
  });
  EXPECT_EQ(result.version, "BFCL v3");
  EXPECT_THAT(test::names_of(result), ElementsAre("accuracy/irrelevance_accuracy", "accuracy/live_relevance_accuracy",
                                                  "accuracy/simple_accuracy", "accuracy/overall_accuracy",
                                                  "accuracy/overall_accuracy_weighted"));
  EXPECT_EQ(score_named(result, "irrelevance_accuracy").value, 0);
  EXPECT_EQ(score_named(result, "live_relevance_accuracy").value, 1);
  EXPECT_EQ(score_named(result, "simple_accuracy").count, 3U);
  EXPECT_DOUBLE_EQ(score_named(result, "overall_accuracy").value, 2.0 / 3);
  EXPECT_TRUE(std::isnan(score_named(result, "overall_accuracy").error));
  EXPECT_DOUBLE_EQ(score_named(result, "overall_accuracy_weighted").value, 0.8);
  const TaskResult silent = test::run(*task, [](const Asked&) { return calls(""); });
  EXPECT_EQ(score_named(silent, "irrelevance_accuracy").value, 1);
  EXPECT_EQ(score_named(silent, "live_relevance_accuracy").value, 0);
  EvaluationRequest one_file = bfcl();
  one_file.dataset.path = "BFCL_v3_simple.json";
  EXPECT_EQ(one_task(one_file, categories)->samples(), 3U);  // whose answers are in another
  EXPECT_EQ(one_task(bfcl({"simple"}), categories)->samples(), 3U);
  EXPECT_EQ(one_task(bfcl({"BFCL_v3_irrelevance"}), categories)->samples(), 1U);
}

TEST(CallTasks, parallel_calls_match_in_any_order) {
  const auto task = one_task(
      bfcl(), {{"BFCL_v3_parallel.json",
                question("parallel_0",
                         R"(,"ground_truth":[{"math.area":{"sides":[[1,2]]}},{"math.area":{"sides":[[3,4]]}}])")}});
  const auto values = [&](std::string_view answer) {
    return drive(*task, 0, [&](const Asked&) { return calls(answer); }).scored.values.at(1);
  };
  EXPECT_EQ(
      values(R"([{"name":"math_area","arguments":{"sides":[3,4]}},{"name":"math_area","arguments":{"sides":[1,2]}}])"),
      1);
  EXPECT_EQ(
      values(R"([{"name":"math_area","arguments":{"sides":[3,4]}},{"name":"math_area","arguments":{"sides":[3,4]}}])"),
      0);
  EXPECT_EQ(values(R"([{"name":"math_area","arguments":{"sides":[3,4]}}])"), 0);
}

TEST(CallTasks, nemos_rows_are_scored_by_name_and_arguments) {
  const std::string row =
      R"({"messages":[{"role":"user","content":"sum?"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"add","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"0"}],"tools":[{"type":"function","function":{"name":"add","parameters":{"type":"object"}}}],"tool_calls":[{"function":{"name":"add","arguments":{"a":1,"b":2}}}]})";
  const auto task = one_task(bfcl(), {{"tools.jsonl", row}});
  const auto driven = drive(
      *task, 0, [](const Asked&) { return calls(R"([{"function":{"name":"add","arguments":"{\"b\":2,\"a\":1}"}}])"); });
  ASSERT_THAT(driven.asked, SizeIs(1));
  EXPECT_THAT(write_question(driven.asked[0].question, "m"),
              HasSubstr(R"({"role":"assistant","content":"","tool_calls":[{"id":"c1",)"));
  EXPECT_THAT(write_question(driven.asked[0].question, "m"),
              HasSubstr(R"({"role":"tool","content":"0","tool_call_id":"c1"})"));
  EXPECT_THAT(write_question(driven.asked[0].question, "m"),
              HasSubstr(R"("tools":[{"type":"function","function":{"name":"add")"));
  EXPECT_THAT(driven.scored.values, ElementsAre(0, 1, 1, 1));
  const TaskResult result =
      test::run(*task, [](const Asked&) { return calls(R"([{"function":{"name":"add","arguments":"{\"a\":9}"}}])"); });
  EXPECT_EQ(score_named(result, "function_name_accuracy").value, 1);
  EXPECT_EQ(score_named(result, "function_name_and_args_accuracy").value, 0);
}

TEST(CallTasks, faults_of_rows_have_their_lines) {
  EXPECT_THAT(faults_of({{"README.md", ""}}).at(0).problem, HasSubstr("no file of the task bfcl"));
  const auto findings =
      faults_of({{"x.jsonl",
                  "{\"question\":\"q\",\"function\":[]}\n"
                  "{\"question\":[],\"function\":[{\"name\":\"f\"}]}\n"
                  "{\"question\":[[{\"role\":\"user\"}],[{\"role\":\"user\"}]],\"function\":[{\"name\":\"f\"}]}\n"
                  "{\"question\":\"q\",\"function\":[{\"name\":\"f\"}]}\n"
                  "{\"question\":\"q\",\"function\":[{\"name\":\"f\"}],\"ground_truth\":[\"f(1)\"]}\n"
                  "{\"question\":\"q\",\"function\":[{\"title\":\"f\"}],\"ground_truth\":[]}\n"
                  "{\"messages\":[{}],\"tools\":[{\"name\":\"f\"}],\"tool_calls\":[]}\n"}});
  std::vector<std::string> paths;
  for (const auto& each : findings) paths.push_back(each.path);
  EXPECT_THAT(paths,
              ElementsAre("x.jsonl:1", "x.jsonl:2", "x.jsonl:3", "x.jsonl:4", "x.jsonl:5", "x.jsonl:6", "x.jsonl:7"));
  EXPECT_THAT(findings.at(2).problem, HasSubstr("several turns"));
}

TEST(CallTasks, answers_that_are_missing_between_others_are_faults_and_behind_them_are_not_known) {
  Files files = categories;
  files["possible_answer/BFCL_v3_simple.json"] = R"({"id":"simple_2",)" + std::string(truth) + "}\n";
  const auto findings = faults_of(files);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].path, "BFCL_v3_simple.json:1");
  EXPECT_THAT(findings[0].problem, HasSubstr("has no partner in possible_answer/BFCL_v3_simple.json"));
  // Of a beginning of the file of answers the rest may come.
  files["possible_answer/BFCL_v3_simple.json"] = R"({"id":"simple_0",)" + std::string(truth) + "}\n";
  EXPECT_THAT(faults_of(files), IsEmpty());
  const auto task = one_task(bfcl({"simple"}), files);
  const auto driven = drive(*task, 1, [](const Asked&) { return calls(""); });
  EXPECT_THAT(driven.asked, IsEmpty());
  EXPECT_THAT(driven.scored.fault, HasSubstr("nothing is known"));
}

TEST(CallTasks, a_model_that_is_away_costs_its_sample) {
  const auto task = one_task(bfcl({"simple"}), categories);
  const auto driven = drive(*task, 0, [](const Asked&) { return no_reply("away"); });
  EXPECT_EQ(driven.scored.fault, "away");
  EXPECT_THAT(driven.scored.values, IsEmpty());
}

}  // namespace
}  // namespace stackgate::evaluator
