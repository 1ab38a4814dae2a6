// What each kind of statement does when it is executed: a turn or two, and what is said.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/guardrail/dialog/turns_support.hpp"

namespace stackgate::guardrail {
namespace {

using jinja::Value;
using test::configuration;
using test::play;
using test::says;

struct Executed {
  const char* name;
  const char* flows;   // behind `define user a`, `b` and `define bot greet`
  const char* said;    // to "a"
  const char* then{};  // to "b" in the next turn, if there is one
};
void PrintTo(const Executed& each, std::ostream* out) { *out << each.name; }

class StatementsExecuted : public testing::TestWithParam<Executed> {};

TEST_P(StatementsExecuted, say_what_they_should) {
  const auto with = configuration(std::string("define user a\n  \"a\"\n\ndefine user b\n  \"b\"\n\n"
                                              "define bot greet\n  \"Hello, $name!\"\n\n") +
                                  GetParam().flows);
  test::Script script = {{"lookup", Value("found")},
                         {"generate_value", Value("a value of the model")},
                         {"generate_bot_message", Value("by the model")},
                         {"generate", Value("freely")},
                         {"generate_next_step", Value("greet")},
                         {"generate_user_intent", Value("a")}};
  const auto first = play(says(with, "a"), script);
  EXPECT_EQ(first.result.text, GetParam().said) << first.result.error;
  if (GetParam().then == nullptr) return;
  TurnInput second = says(with, "b");
  second.state = first.result.state;
  script["generate_user_intent"] = Value("b");
  const auto answered = play(std::move(second), script);
  EXPECT_EQ(answered.result.text, GetParam().then) << answered.result.error;
}

INSTANTIATE_TEST_SUITE_P(
    All, StatementsExecuted,
    testing::Values(
        Executed{"user_and_bot", "define flow\n  user a\n  $name = \"Ann\"\n  bot greet\n", "Hello, Ann!"},
        Executed{"bot_anything", "define flow\n  user a\n  bot ...\n", "freely"},
        Executed{"bot_by_the_model", "define flow\n  user a\n  bot explain\n", "by the model"},
        Executed{"bot_text_and_variable", "define flow\n  user a\n  $x = 3\n  bot \"It is $x.\"\n  bot $x\n",
                 "It is 3.\n3"},
        Executed{"user_text", "define flow\n  user \"a\"\n  bot \"by its example\"\n", "by its example"},
        Executed{"execute_into_a_variable", "define flow\n  user a\n  $x = execute lookup(q=1)\n  bot $x\n", "found"},
        Executed{"generated_value", "define flow\n  user a\n  # what is it?\n  $x = ...\n  bot $x\n",
                 "a value of the model"},
        Executed{"do_of_a_list",
                 "define subflow one\n  bot \"1\"\n\ndefine subflow two\n  bot \"2\"\n\ndefine flow\n  user a\n"
                 "  $list = [\"two\", \"one\"]\n  $i = 0\n  while $i < len($list)\n    do $list[$i]\n    $i = $i + 1\n",
                 "2\n1"},
        Executed{"do_with_a_value",
                 "define subflow tell\n  bot \"$what\"\n\ndefine flow\n  user a\n  do tell $what=it\n", "it"},
        Executed{"do_of_a_name_with_a_value",
                 "define subflow tell\n  bot \"$what\"\n\ndefine flow\n  user a\n  $flow = \"tell $what=it\"\n"
                 "  do $flow\n",
                 "it"},
        Executed{"do_that_returns",
                 "define subflow twice\n  if $n > 2\n    return $n * 2\n  return 0\n\ndefine flow\n  user a\n"
                 "  $n = 4\n  $x = do twice\n  bot \"$x\"\n",
                 "8"},
        Executed{"stop_in_a_subflow",
                 "define subflow end\n  stop\n\ndefine flow\n  user a\n  bot \"x\"\n  do end\n"
                 "  bot \"y\"\n",
                 "x"},
        Executed{"else_if",
                 "define flow\n  user a\n  $x = 2\n  if $x == 1\n    bot \"1\"\n  else if $x == 2\n"
                 "    bot \"2\"\n  else\n    bot \"3\"\n",
                 "2"},
        Executed{"while_with_break_and_continue",
                 "define flow\n  user a\n  $i = 0\n  while True\n    $i = $i + 1\n    if $i == 2\n      continue\n"
                 "    if $i == 4\n      break\n    bot \"$i\"\n",
                 "1\n3"},
        Executed{"goto",
                 "define flow\n  user a\n  $i = 0\n  label again\n  $i = $i + 1\n  bot \"$i\"\n"
                 "  if $i < 3\n    goto again\n",
                 "1\n2\n3"},
        Executed{"when",
                 "define flow\n  user a\n  bot \"?\"\n  when user a\n    bot \"a\"\n  else when user b\n"
                 "    bot \"b\"\n  bot \"end\"\n",
                 "?", "b\nend"},
        Executed{"any", "define flow\n  user a\n  bot \"?\"\n  any\n    user b\n    event E\n  bot \"one\"\n", "?",
                 "one"},
        Executed{"a_subflow_that_waits",
                 "define subflow ask\n  bot \"?\"\n  user b\n  bot \"thanks\"\n\ndefine flow\n  user a\n  do ask\n"
                 "  bot \"on\"\n",
                 "?", "thanks\non"},
        Executed{"event",
                 "define flow\n  user a\n  create event E(k=1)\n  bot \"x\"\n\ndefine flow\n  event E(k=1)\n"
                 "  bot \"y\"\n",
                 "x\ny"},
        Executed{"priority",
                 "define flow low\n  user a\n  bot \"low\"\n\ndefine flow high\n  priority 2\n  user a\n"
                 "  bot \"high\"\n",
                 "high"},
        Executed{"a_named_intent_before_any",
                 "define flow any of them\n  user ...\n  bot \"any\"\n\ndefine flow\n"
                 "  user a\n  bot \"named\"\n",
                 "named"},
        Executed{"parallel",
                 "define flow one\n  user a\n  bot \"1\"\n\ndefine parallel flow two\n  user a\n"
                 "  bot \"2\"\n\ndefine flow three\n  user a\n  bot \"3\"\n",
                 "1\n2"},
        Executed{"extension",
                 "define flow\n  user a\n  $name = \"Ann\"\n  bot greet\n\n"
                 "define extension flow more\n  bot greet\n  bot \"How are you?\"\n",
                 "Hello, Ann!\nHow are you?"},
        Executed{"behind_any_answer",
                 "define flow\n  user a\n  bot \"x\"\n\ndefine extension flow\n  bot ...\n"
                 "  $last = $last_bot_message\n",
                 "x"},
        Executed{"docstring_and_comments",
                 "define flow\n  \"\"\"What it does.\"\"\"\n  user a  # asks\n  # and then\n"
                 "  bot \"x\"\n",
                 "x"},
        Executed{"no_flow_fits", "define flow\n  user b\n  bot \"b\"\n\ndefine bot x\n  \"x\"\n", "Hello, !"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(BotTexts, are_chosen_by_the_seed) {
  std::string flows = "define flow\n  user ...\n  bot greet\n\ndefine bot greet\n";
  for (int i = 0; i < 7; ++i) flows += fmt::format("  \"text {}\"\n", i);
  const auto with = configuration(flows);
  for (const std::uint64_t seed : {0U, 3U, 10U, 3U}) {
    TurnInput input = says(with, "x");
    input.seed = seed;
    EXPECT_EQ(play(std::move(input), {}).result.text, fmt::format("text {}", seed % 7));
  }
}

}  // namespace
}  // namespace stackgate::guardrail
