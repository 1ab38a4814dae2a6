// What models' answers mean.
#include <gtest/gtest.h>

#include "services/guardrail/prompts/task.hpp"
#include "services/kit/jinja/to_json.hpp"

namespace stackgate::guardrail {
namespace {

enum class Verdict : std::uint8_t { safe, unsafe, neither };

Verdict verdict_of(const Parsed& parsed) {
  return !parsed.safe ? Verdict::neither : *parsed.safe ? Verdict::safe : Verdict::unsafe;
}

TEST(PromptAnswers, YesAndNo) {
  struct Case {
    std::string_view answer;
    Verdict verdict;
  };
  const Case cases[] = {
      {"Yes", Verdict::unsafe},
      {"yes.", Verdict::unsafe},
      {"No", Verdict::safe},
      {" **No**, it is fine", Verdict::safe},
      {"\"no\"", Verdict::safe},
      {"Answer: no", Verdict::safe},
      {"safe", Verdict::safe},
      {"unsafe", Verdict::unsafe},
      {"<think>yes or no? maybe</think>\nNo", Verdict::safe},
      {"<think>no no no", Verdict::neither},
      {"", Verdict::neither},
      {"not safe", Verdict::neither},
      {"It is safe", Verdict::neither},
      {"Nothing wrong", Verdict::neither},
      {"yes no", Verdict::neither},
      {"Yes/No", Verdict::neither},
      {"no, unsafe", Verdict::neither},
      {"yesterday", Verdict::neither},
      {"I cannot answer", Verdict::neither},
      {"нет", Verdict::neither},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(verdict_of(parse_output("", "self_check_input", each.answer)), each.verdict) << each.answer;
    EXPECT_EQ(verdict_of(parse_output("is_content_safe", "self_check_output", each.answer)), each.verdict)
        << each.answer;
  }
}

TEST(PromptAnswers, YesMeansSupportedInTheChecksOfFacts) {
  for (const std::string_view task : {"self_check_facts", "self_check_hallucination"}) {
    EXPECT_EQ(verdict_of(parse_output("", task, "Yes")), Verdict::safe);
    EXPECT_EQ(verdict_of(parse_output("is_content_safe", task, "No")), Verdict::unsafe);
    EXPECT_EQ(verdict_of(parse_output("", task, "unsafe")), Verdict::unsafe);
    EXPECT_EQ(verdict_of(parse_output("", task, "perhaps")), Verdict::neither);
  }
}

TEST(PromptAnswers, SafetyModels) {
  struct Case {
    std::string_view task, answer;
    Verdict verdict;
    std::vector<std::string> categories;
  };
  const std::string_view in = "content_safety_check_input $model=safety";
  const std::string_view out = "content_safety_check_output $model=safety";
  const Case cases[] = {
      {in, R"({"User Safety": "safe"})", Verdict::safe, {}},
      {in,
       R"({"User Safety": "unsafe", "Safety Categories": "Violence, Guns"})",
       Verdict::unsafe,
       {"Violence", "Guns"}},
      {in, "```json\n{\"User Safety\": \"UNSAFE\", \"Safety Categories\": [\"S1\"]}\n```", Verdict::unsafe, {"S1"}},
      {in, R"({"User Safety": "unknown"})", Verdict::neither, {}},
      {in, R"({"User Safety": "safe", "User Safety": "unsafe"})", Verdict::neither, {}},
      {in, R"({"User Safety": true})", Verdict::neither, {}},
      {in, R"({"Response Safety": "safe"})", Verdict::neither, {}},
      {in, "safe", Verdict::neither, {}},
      {out, R"({"User Safety": "unsafe", "Response Safety": "safe", "Safety Categories": "S1"})", Verdict::safe, {}},
      {out, R"({"User Safety": "safe", "Response Safety": "unsafe"})", Verdict::unsafe, {}},
      {"llama_guard_check_input", "safe", Verdict::safe, {}},
      {"llama_guard_check_input", "unsafe\nS1", Verdict::unsafe, {"S1"}},
      {"llama_guard_check_output", "\n\nunsafe\nS1,S10", Verdict::unsafe, {"S1", "S10"}},
      {"llama_guard_check_output", "I refuse", Verdict::neither, {}},
      {"topic_safety_check_input $model=topic", "on-topic", Verdict::safe, {}},
      {"topic_safety_check_input $model=topic", "Off topic.", Verdict::unsafe, {}},
      {"topic_safety_check_input $model=topic", "the topic is fine", Verdict::neither, {}},
  };
  for (const Case& each : cases) {
    const Parsed parsed = parse_output("", each.task, each.answer);
    EXPECT_EQ(verdict_of(parsed), each.verdict) << each.answer;
    EXPECT_EQ(parsed.categories, each.categories) << each.answer;
  }
  const auto reasoned = [](std::string_view answer) {
    return verdict_of(parse_output("nemotron_reasoning_parse_prompt_safety", "content_safety_check_input", answer));
  };
  EXPECT_EQ(reasoned("<think>Prompt harm: harmful</think>Prompt harm: unharmful\nResponse Harm: harmful"),
            Verdict::safe);
  EXPECT_EQ(reasoned("Prompt harm: harmful"), Verdict::unsafe);
  EXPECT_EQ(reasoned("Prompt harm: unharmful\nPrompt harm: harmful"), Verdict::neither);
  EXPECT_EQ(reasoned("unharmful"), Verdict::neither);
}

TEST(PromptAnswers, TextsOfDialogs) {
  struct Case {
    std::string_view parser, task, answer, text;
  };
  const Case cases[] = {
      {"", "generate_user_intent", "User intent: ask price\nBot intent: x", "ask price"},
      {"verbose_v1", "generate_user_intent", " user intent: ask price", "ask price"},
      {"user_intent", "generate_user_intent", "  ask price", "ask price"},
      {"", "generate_user_intent", "`ask price`.", "ask price"},
      {"verbose_v1", "generate_next_steps", "Bot intent: inform price\nBot message: \"3\"", "inform price"},
      {"", "generate_next_steps", "bot inform price", "inform price"},
      {"bot_intent", "generate_next_steps", "inform price", "inform price"},
      {"verbose_v1", "generate_bot_message", "Bot message: \"It is\n3 \\\"euros\\\"\"\nUser message: \"ok\"",
       "It is\n3 \"euros\""},
      {"", "generate_bot_message", "It is 3 euros", "It is 3 euros"},
      {"bot_message", "generate_bot_message", "\"It is {{ user_input }} $x\"", "It is {{ user_input }} $x"},
      {"", "generate_value", "$name = \"Ann\"", "\"Ann\""},
      {"", "generate_value", "```python\n42\n```", "42"},
      {"", "general", " Hello ", "Hello"},
      {"", "general", "<think>hm</think>Hello", "Hello"},
      {"", "my_own_task", "Bot message: kept", "Bot message: kept"},
      {"verbose_v1", "my_own_task", "User intent: a\nBot intent: b\nBot message: \"c\"", "  a\nbot b\n  \"c\""},
  };
  for (const Case& each : cases) {
    const Parsed parsed = parse_output(each.parser, each.task, each.answer);
    EXPECT_EQ(parsed.text, each.text) << each.answer;
    EXPECT_FALSE(parsed.safe.has_value());
  }
  for (const std::string_view parser : known_parsers())
    EXPECT_EQ(parse_output(parser, "general", "").text, "") << parser;
}

TEST(PromptAnswers, SeveralNextSteps) {
  using Steps = std::vector<std::string>;
  struct Case {
    std::string_view answer;
    Steps steps;
  };
  const Case cases[] = {
      {"Bot intent: inform price\nUser intent: thank\nBot intent: say goodbye",
       {"bot inform price", "user thank", "bot say goodbye"}},
      {"bot inform price\n  \"It is 3.\"\nuser \"more\"\nuser thank\n\nbot `say goodbye`.",
       {"bot inform price", "user thank", "bot say goodbye"}},
      {"bot inform price \"It is 3.\"\nbot offer help, if any", {"bot inform price", "bot offer help"}},
      {"bot a\nexecute pay(1)\nbot b", {"bot a"}},
      {"<think>bot x</think>bot a\n$x = 1", {"bot a"}},
      {"nonsense\nbot a", {}},
      {"", {}},
  };
  for (const Case& each : cases)
    EXPECT_EQ(parse_output("", "generate_next_steps", each.answer).steps, each.steps) << each.answer;
  std::string many;
  for (int i = 0; i < 40; ++i) many += "bot a\n";
  EXPECT_EQ(parse_output("", "generate_next_steps", many).steps.size(), 16U);
}

TEST(PromptAnswers, AllStepsAtOnce) {
  const auto read = [](std::string_view answer) {
    return read_intent_steps(parse_output("", "generate_intent_steps_message", answer).text);
  };
  const IntentSteps steps = read("User intent: ask price\nBot intent: inform price\nBot message: \"3\"");
  EXPECT_EQ(steps.user_intent, "ask price");
  EXPECT_EQ(steps.bot_intent, "inform price");
  EXPECT_EQ(steps.bot_message, "3");
  EXPECT_EQ(read("ask price\nbot inform price\n  \"3\"\nuser \"more\"\n  x").bot_message, "3");
  EXPECT_EQ(read("nonsense").bot_intent, "");
}

TEST(PromptAnswers, TakeWhatCodeMadeOfAnAnswer) {
  using jinja::Value;
  const auto list = [](std::vector<Value> items) {
    return Value(jinja::ListPtr(std::make_shared<const jinja::List>(std::move(items))));
  };
  const auto safe = [](std::string_view task, const Value& made) {
    const auto parsed = parsed_by_code(task, made);
    return parsed ? verdict_of(*parsed) : Verdict::neither;
  };
  EXPECT_EQ(safe("self_check_input", Value(true)), Verdict::safe);
  EXPECT_EQ(safe("self_check_input", list({Value(false), Value("S1")})), Verdict::unsafe);
  EXPECT_EQ(safe("self_check_facts", Value(true)), Verdict::unsafe) << "\"no\" is true there, too";
  EXPECT_EQ(safe("self_check_hallucination", list({Value(false)})), Verdict::safe);
  const auto both =
      parsed_by_code("content_safety_check_input $model=x", list({Value(false), list({Value("S1"), Value("S2")})}));
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->categories, (std::vector<std::string>{"S1", "S2"}));
  EXPECT_EQ(safe("topic_safety_check_input $model=x", Value("on-topic")), Verdict::safe) << "a text is an answer";
  EXPECT_EQ(safe("self_check_output", Value("Yes")), Verdict::unsafe);
  for (const Value& each : {Value(), Value(jinja::None{}), Value(std::int64_t{1}), list({}), list({Value("no")})})
    EXPECT_FALSE(parsed_by_code("self_check_input", each).has_value()) << jinja::to_json(each);
  EXPECT_EQ(parsed_by_code("generate_user_intent", Value("  User intent: ask about x\n"))->text, "ask about x");
  EXPECT_EQ(parsed_by_code("generate_next_steps", Value("bot a\nuser b"))->steps.size(), 2U);
  EXPECT_FALSE(parsed_by_code("generate_bot_message", Value(true)).has_value());
}

}  // namespace
}  // namespace stackgate::guardrail
