#include <cmath>

#include <gmock/gmock.h>

#include "services/evaluator/suite/code/make_code_tasks.hpp"
#include "services/evaluator/suite/code/problem.hpp"
#include "tests/evaluator/suite_support.hpp"

namespace stackgate::evaluator {
namespace {

using test::drive;
using test::Files;
using test::no_reply;
using test::score_named;
using test::source_of;
using test::text_reply;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view human_eval =
    R"({"task_id":"HumanEval/0","prompt":"from typing import List\n\n\ndef add(a, b):\n    \"\"\"Adds.\"\"\"\n","test":"def check(candidate):\n    assert candidate(1, 2) == 3\n","entry_point":"add"})";
constexpr std::string_view mbpp =
    R"({"task_id":2,"text":"Write a function that adds.","test_list":["assert add(1, 2) == 3","assert add(0, 0) == 0"],"test_setup_code":"import math"})";

Problem problem_of(std::string_view row) {
  json::Document document;
  return read_problem(*json::parse(row, document)).value();
}
EvaluationRequest code(std::uint32_t programs = 1, std::vector<std::uint32_t> ks = {1}, bool chat = false) {
  EvaluationRequest out{.name = "e", .framework = Framework::bigcode_eval_harness, .tasks = {"humaneval"}};
  out.requests.chat = chat;
  out.code = {.programs = programs, .ks = std::move(ks)};
  return out;
}
std::unique_ptr<Task> one_task(const EvaluationRequest& request) {
  const Files files = {{"data/HumanEval.jsonl", std::string(human_eval)}};
  auto tasks = make_code_tasks(request, source_of(files));
  EXPECT_TRUE(tasks);
  return tasks ? std::move(tasks->front()) : nullptr;
}

TEST(Problems, completions_end_at_the_next_thing_at_the_left) {
  const Problem problem = problem_of(human_eval);
  const std::string start = problem.prompt;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"    return a + b\n", "    return a + b\n"},
      {"    return a + b\n\ndef other():\n    pass\n", "    return a + b\n"},
      {"    x = 1\n    return a + b\n\nprint(add(1, 2))\n", "    x = 1\n    return a + b\n"},
      {"    if a:\n        return 1\n    return b\n# done", "    if a:\n        return 1\n    return b"},
      {"    return 1\n```\nThat is it.", "    return 1"}};
  for (const auto& [answer, body] : cases) EXPECT_EQ(program_of(problem, answer, false), start + body) << answer;
  EXPECT_EQ(tested(problem, "P"), "P\n\ndef check(candidate):\n    assert candidate(1, 2) == 3\n\ncheck(add)\n");
  EXPECT_THAT(stop_sequences(problem), SizeIs(4));
}

TEST(Problems, chats_have_their_code_in_a_block) {
  const Problem problem = problem_of(human_eval);
  const std::string imports = "from typing import List\n\n\n", function = "def add(a, b):\n    return a + b";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"Sure:\n```python\n" + function + "\n```\nIt adds.", imports + function},
      {"```py\n" + function + "\n```\n```\nother\n```", imports + function},
      {"```\n" + function, imports + function},                                   // cut off
      {function, imports + function},                                             // no block at all
      {"```python\n    return a + b\n```", problem.prompt + "    return a + b"},  // a body alone
      {"```python\n```", problem.prompt}};
  for (const auto& [answer, program] : cases) EXPECT_EQ(program_of(problem, answer, true), program) << answer;
  EXPECT_THAT(chat_prompt(problem), HasSubstr("```python\nfrom typing"));
}

TEST(Problems, of_mbpp_carry_their_tests) {
  const Problem problem = problem_of(mbpp);
  EXPECT_EQ(problem.id, "2");
  EXPECT_EQ(problem.prompt,
            "\"\"\"\nWrite a function that adds.\nassert add(1, 2) == 3\nassert add(0, 0) == 0\n\"\"\"\n");
  EXPECT_EQ(problem.tests, "import math\nassert add(1, 2) == 3\nassert add(0, 0) == 0\n");
  EXPECT_EQ(program_of(problem, "def add(a, b):\n    return a + b\n\nassert add(1, 1) == 2", false),
            problem.prompt + "def add(a, b):\n    return a + b\n");
  EXPECT_EQ(program_of(problem, "```python\nx = 1\n```", true), "x = 1");
  json::Document document;
  for (const std::string row :
       {R"({})", R"({"prompt":"x"})", R"({"prompt":"x","test":"y"})", R"({"test":"y","entry_point":"z"})",
        R"({"text":"x","test_list":[]})", R"({"test_list":["x"]})"})
    EXPECT_FALSE(read_problem(*json::parse(row, document))) << row;
}

TEST(CodeTasks, ask_for_programs_with_seeds_and_run_each) {
  const auto task = one_task(code(3, {1, 3}));
  int number = 0;
  const auto driven = drive(*task, 0, [&](const Asked& asked) {
    if (asked.whom == Whom::runner) {
      EXPECT_THAT(asked.question.prompt, HasSubstr("check(add)"));
      return text_reply(asked.question.prompt.contains("return 1") ? R"({"passed":true,"reason":""})"
                                                                   : R"({"passed":false,"reason":"AssertionError"})");
    }
    return text_reply("    return " + std::to_string(number++));
  });
  ASSERT_THAT(driven.asked, SizeIs(6));
  EXPECT_EQ(driven.asked[0].question.seed, 1234U);
  EXPECT_EQ(driven.asked[2].question.seed, 1236U);
  EXPECT_EQ(driven.asked[0].question.temperature, 0.2);
  EXPECT_EQ(driven.asked[0].question.max_tokens, 512U);
  EXPECT_THAT(driven.asked[0].question.stop, SizeIs(4));
  EXPECT_THAT(driven.scored.values, ElementsAre(3, 1));
  EXPECT_THAT(driven.scored.record, HasSubstr("AssertionError"));
  const std::vector<std::vector<double>> values = {{3, 1}, {3, 0}, {2, 2}};
  const TaskResult result = task->result(values, 0);
  EXPECT_DOUBLE_EQ(score_named(result, "pass@1").value, (1.0 / 3 + 0 + 1) / 3);
  EXPECT_DOUBLE_EQ(score_named(result, "pass@3").value, 0.5);  // of two programs there is no pass@3
  EXPECT_EQ(score_named(result, "pass@3").nan_count, 1U);
}

TEST(CodeTasks, one_program_is_greedy_and_a_chat_has_no_stops) {
  const auto driven = drive(*one_task(code(1, {1}, true)), 0, [](const Asked& asked) {
    return text_reply(asked.whom == Whom::runner ? R"({"passed":true,"reason":""})"
                                                 : "```python\ndef add(a, b): ...\n```");
  });
  ASSERT_THAT(driven.asked, SizeIs(2));
  EXPECT_EQ(driven.asked[0].question.temperature, 0);
  EXPECT_TRUE(driven.asked[0].question.is_chat());
  EXPECT_THAT(driven.asked[0].question.stop, IsEmpty());
}

TEST(CodeTasks, what_was_not_answered_or_run_is_not_counted_as_wrong) {
  const auto task = one_task(code(2, {1}));
  int number = 0;
  const auto half = drive(*task, 0, [&](const Asked& asked) {
    if (asked.whom == Whom::runner) return text_reply(R"({"passed":true,"reason":""})");
    return number++ == 0 ? no_reply("away") : text_reply("    return a + b");
  });
  EXPECT_THAT(half.asked, SizeIs(3));
  EXPECT_THAT(half.scored.values, ElementsAre(1, 1));
  const auto refused = drive(*task, 0, [](const Asked& asked) {
    return asked.whom == Whom::runner ? no_reply("programs cannot be run: no sandbox") : text_reply("    return 3");
  });
  EXPECT_EQ(refused.scored.fault, "programs cannot be run: no sandbox");
  const auto lies = drive(*task, 0, [](const Asked&) { return text_reply("[1"); });
  EXPECT_EQ(lies.scored.fault, "the runner's answer is none");
}

TEST(CodeTasks, faults) {
  const Files files = {{"humaneval.jsonl", "{}\n" + std::string(human_eval) + "\n"}};
  const auto tasks = make_code_tasks(code(2, {1, 5, 0}), source_of(files));
  ASSERT_FALSE(tasks);
  std::vector<std::string> paths;
  for (const auto& each : tasks.error()) paths.push_back(each.path);
  EXPECT_THAT(paths, ElementsAre("params.ks[1]", "params.ks[2]", "humaneval.jsonl:1"));
}

}  // namespace
}  // namespace stackgate::evaluator
