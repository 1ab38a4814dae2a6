#include <cmath>

#include <gmock/gmock.h>

#include "services/evaluator/suite/conversations/make_conversation_tasks.hpp"
#include "services/evaluator/suite/conversations/trajectory.hpp"
#include "tests/evaluator/suite_support.hpp"

namespace stackgate::evaluator {
namespace {

using test::drive;
using test::no_reply;
using test::source_of;
using test::text_reply;
using test::words_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

EvaluationRequest agents(std::vector<std::string> tasks = {"agentic-eval"}) {
  EvaluationRequest out{.name = "e", .framework = Framework::agentic_eval, .tasks = std::move(tasks)};
  out.judge = ModelEndpoint{.url = "http://judge/v1"};
  return out;
}
std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> tasks_of(const EvaluationRequest& request,
                                                                               const std::string& rows) {
  const test::Files files = {{"rows.jsonl", rows}};
  return make_agent_tasks(request, source_of(files));
}
constexpr std::string_view booked =
    R"("user_input":[{"type":"human","content":"book a table"},{"type":"ai","content":"","tool_calls":[{"name":"book","args":{"at":"8pm","for":2}}]},{"type":"tool","content":"ok"},{"type":"ai","content":"Done."}])";

TEST(Trajectories, are_read_in_both_spellings) {
  json::Document document;
  const std::string text = "{" + std::string(booked) + "}";
  const auto ragas = read_trajectory(*json::parse(text, document));
  ASSERT_TRUE(ragas);
  EXPECT_EQ(ragas->transcript,
            "User: book a table\nAssistant calls book({\"at\":\"8pm\",\"for\":2})\nTool: ok\nAssistant: Done.\n");
  json::Document other;
  const auto openai = read_trajectory(*json::parse(
      R"({"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}}]}]})",
      other));
  ASSERT_TRUE(openai);
  EXPECT_EQ(openai->transcript, "User: hi\nAssistant calls f({\"a\":1})\n");
  for (const std::string row : {R"({})", R"({"messages":[]})", R"({"messages":[{"role":"clown"}]})",
                                R"({"messages":[{"role":"assistant","tool_calls":[{}]}]})"})
    EXPECT_FALSE(read_trajectory(*json::parse(row, other))) << row;
}

TEST(ToolCallAccuracy, is_ragas) {
  struct Case {
    std::string calls, expected;
    double score;
  };
  const std::vector<Case> cases = {
      {R"([{"name":"f","args":{"a":1}}])", R"([{"name":"f","args":{"a":1}}])", 1},
      {R"([{"name":"f","args":{"a":"1"}}])", R"([{"name":"f","args":{"a":1}}])", 1},
      {R"([{"name":"f","args":{"a":2,"b":3}}])", R"([{"name":"f","args":{"a":1,"b":3}}])", 0.5},
      {R"([{"name":"f","args":{"b":3}}])", R"([{"name":"f","args":{"a":1,"b":3}}])", 0.5},
      {R"([{"name":"f","args":{"a":1,"more":0}}])", R"([{"name":"f","args":{"a":1}}])", 1},
      {R"([{"name":"f","args":{"a":1}}])", R"([{"name":"f","args":{}}])", 0},
      {R"([{"name":"f","args":{}},{"name":"g","args":{}}])", R"([{"name":"g","args":{}},{"name":"f","args":{}}])", 0},
      {R"([{"name":"f","args":{}},{"name":"g","args":{"x":1}}])",
       R"([{"name":"f","args":{}},{"name":"g","args":{"x":2}}])", 0.5},
      {R"([{"name":"f"}])", R"([])", 0},
      {R"([])", R"([{"name":"f"}])", 0},
      {R"([])", R"([])", 1}};
  for (const Case& each : cases) {
    json::Document own, wanted;
    EXPECT_DOUBLE_EQ(
        tool_call_accuracy(json::parse(each.calls, own)->items(), json::parse(each.expected, wanted)->items()),
        each.score)
        << each.calls << " " << each.expected;
  }
}

TEST(AgentTasks, goals_are_judged_against_the_reference_or_what_the_user_wanted) {
  const auto tasks = tasks_of(agents({"agent_goal_accuracy"}), "{" + std::string(booked) +
                                                                   R"(,"reference":"a table at 8pm"})"
                                                                   "\n{" +
                                                                   std::string(booked) + "}\n");
  ASSERT_TRUE(tasks);
  const Task& task = *tasks->front();
  const auto say = [](std::string first, std::string second) {
    return [first, second](const Asked& asked) {
      return text_reply(words_of(asked).contains("what was reached|>") ? second : first);
    };
  };
  const auto with = drive(task, 0, say("Goal: eat\nOutcome: table booked", "yes: [[yes]]"));
  ASSERT_THAT(with.asked, SizeIs(2));
  EXPECT_THAT(words_of(with.asked[0]), HasSubstr("Assistant calls book("));
  EXPECT_THAT(words_of(with.asked[1]), HasSubstr("a table at 8pm"));
  EXPECT_THAT(words_of(with.asked[1]), HasSubstr("table booked"));
  EXPECT_THAT(with.scored.values, ElementsAre(1));
  const auto without = drive(task, 1, say("Goal: eat out\nOutcome: nothing", "[[no]]"));
  EXPECT_THAT(words_of(without.asked[1]), HasSubstr("eat out"));
  EXPECT_THAT(without.scored.values, ElementsAre(0));
  for (const auto& broken :
       {drive(task, 1, say("no lines", "[[yes]]")), drive(task, 1, say("Goal: a\nOutcome: b", "perhaps")),
        drive(task, 1, [](const Asked&) { return no_reply("away"); })}) {
    EXPECT_TRUE(std::isnan(broken.scored.values.at(0)));
    EXPECT_EQ(broken.scored.fault, "");
    EXPECT_THAT(broken.scored.record, HasSubstr("\"reason\":\"the judge"));
  }
}

TEST(AgentTasks, topics_give_precision_recall_and_f1) {
  const auto tasks =
      tasks_of(agents({"topic_adherence"}), "{" + std::string(booked) + R"(,"reference_topics":["dining"]})");
  ASSERT_TRUE(tasks);
  // a: answered, allowed; b: answered, not allowed; c: refused, allowed; d: refused, not allowed.
  const auto driven = drive(*tasks->front(), 0, [](const Asked& asked) {
    const std::string words = words_of(asked);
    if (words.contains("Write each on a line")) return text_reply("- topic a\n- topic b\n- topic c\n- topic d");
    const bool about_answer = words.contains("Did the assistant answer");
    if (about_answer) return text_reply(words.contains("topic a") || words.contains("topic b") ? "[[yes]]" : "[[no]]");
    EXPECT_THAT(words, HasSubstr("- dining"));
    return text_reply(words.contains("topic a") || words.contains("topic c") ? "[[yes]]" : "[[no]]");
  });
  EXPECT_THAT(driven.asked, SizeIs(9));
  EXPECT_THAT(driven.scored.values, ElementsAre(0.5, 0.5, 0.5));
  const auto refused = drive(*tasks->front(), 0, [](const Asked& asked) {
    return text_reply(words_of(asked).contains("Write each on a line") ? "- x" : "[[no]]");
  });
  EXPECT_THAT(refused.scored.values, ElementsAre(0, 0, 0));
  const auto none = drive(*tasks->front(), 0, [](const Asked&) { return text_reply("I see no topic"); });
  EXPECT_TRUE(std::isnan(none.scored.values.at(0)));
}

TEST(AgentTasks, metrics_are_those_that_rows_are_made_for) {
  const auto names = [](const std::string& more) {
    std::vector<std::string> out;
    const auto tasks = tasks_of(agents(), "{" + std::string(booked) + more + "}");
    if (tasks)
      for (const auto& each : *tasks) out.push_back(each->name());
    return out;
  };
  EXPECT_THAT(names(""), ElementsAre("agent_goal_accuracy"));
  EXPECT_THAT(names(R"(,"reference_tool_calls":[])"), ElementsAre("tool_call_accuracy"));
  EXPECT_THAT(names(R"(,"reference":"x","reference_topics":["y"])"),
              ElementsAre("agent_goal_accuracy", "topic_adherence"));
}

TEST(AgentTasks, calls_alone_need_no_judge_and_nobody_is_asked) {
  EvaluationRequest request = agents({"tool_call_accuracy"});
  request.judge.reset();
  const auto tasks = tasks_of(
      request, "{" + std::string(booked) + R"(,"reference_tool_calls":[{"name":"book","args":{"at":"8pm","for":3}}]})");
  ASSERT_TRUE(tasks);
  const auto driven = drive(*tasks->front(), 0, [](const Asked&) { return no_reply("nobody"); });
  EXPECT_THAT(driven.asked, IsEmpty());
  EXPECT_THAT(driven.scored.values, ElementsAre(0.5));
}

TEST(AgentTasks, faults) {
  EXPECT_EQ(tasks_of(agents({"agent_gaol_accuracy"}), "{}").error().at(0).path, "tasks[0]");
  EvaluationRequest no_judge = agents();
  no_judge.judge.reset();
  EXPECT_EQ(tasks_of(no_judge, "{" + std::string(booked) + "}").error().at(0).path, "judge");
  const auto findings = tasks_of(agents({"topic_adherence"}), "{" + std::string(booked) + "}\n{}\n").error();
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].path, "rows.jsonl:1");
  EXPECT_THAT(findings[0].problem, HasSubstr("reference_topics"));
}

}  // namespace
}  // namespace stackgate::evaluator
