// Intents, next steps and messages: one call for each, one call for all, several steps at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/guardrail/dialog/turns_support.hpp"

namespace stackgate::guardrail {
namespace {

using jinja::Value;
using test::configuration;
using test::play;
using test::says;
using testing::ElementsAre;

constexpr const char* shop = R"(
define user ask price
  "how much?"

define user ask hours
  "when?"

define user thank
  "thanks"

define bot inform price
  "It is 3."

define bot offer help
  "Anything else?"

define flow
  user ask price
  bot inform price

define flow
  user ask hours
  bot inform hours

define subflow check output
  $ok = execute self_check_output
  if not $ok
    bot refuse to respond
    stop
)";

std::shared_ptr<Configuration> with(bool single_call, bool fallback = true) {
  auto out = std::make_shared<Configuration>(*configuration(shop, {.output = {"check output"}}));
  out->dialog.single_call = single_call;
  out->dialog.fallback_to_multiple_calls = fallback;
  return out;
}

Value foretold(std::string_view user, std::string_view bot, std::string_view message) {
  const auto out = std::make_shared<jinja::Dict>();
  out->set(Value("user_intent"), Value(user));
  out->set(Value("bot_intent"), Value(bot));
  out->set(Value("bot_message"), Value(message));
  return Value(jinja::DictPtr(out));
}

Value steps(std::initializer_list<const char*> names) {
  std::vector<Value> out;
  for (const char* each : names) out.emplace_back(each);
  return Value(std::make_shared<const jinja::List>(std::move(out)));
}

constexpr const char* single = "generate_intent_steps_message";

TEST(SingleCall, asks_once_where_the_answer_fits) {
  struct Case {
    const char* what;
    Value foretold;
    test::Script others;
    std::string text;
    std::vector<std::string> asked;
  };
  const Value yes(true);
  const Case cases[] = {
      {"its message for the step that a flow names",
       foretold("ask hours", "inform hours", "At nine."),
       {{"self_check_output", yes}},
       "At nine.",
       {single, "self_check_output"}},
      {"a defined text comes before its message",
       foretold("ask price", "inform price", "It is 4."),
       {},
       "It is 3.",
       {single}},
      {"a flow comes before its next step",
       foretold("ask hours", "inform price", "It is 4."),
       {{"generate_bot_message", Value("From ten.")}, {"self_check_output", yes}},
       "From ten.",
       {single, "generate_bot_message", "self_check_output"}},
      {"its next step where no flow has one",
       foretold("thank", "say welcome", "Welcome."),
       {{"self_check_output", yes}},
       "Welcome.",
       {single, "self_check_output"}},
      {"its next step has a defined text", foretold("thank", "offer help", "x"), {}, "Anything else?", {single}},
      {"it names no next step",
       foretold("thank", "", ""),
       {{"generate_next_step", Value("offer help")}},
       "Anything else?",
       {single, "generate_next_step"}},
      {"it names no intent",
       foretold("", "", ""),
       {{"generate_user_intent", Value("ask price")}},
       "It is 3.",
       {single, "generate_user_intent"}},
      {"its message is checked",
       foretold("ask hours", "inform hours", "bad"),
       {{"self_check_output", Value(false)}},
       "No.",
       {single, "self_check_output"}},
  };
  for (const Case& each : cases) {
    test::Script script = each.others;
    script[single] = each.foretold;
    const auto played = play(says(with(true), "x"), script);
    EXPECT_EQ(played.result.text, each.text) << each.what << ": " << played.result.error;
    EXPECT_EQ(played.asked, each.asked) << each.what;
  }
}

TEST(SingleCall, that_fails_is_followed_by_several_where_the_configuration_wants_it) {
  const test::Script script = {{"generate_user_intent", Value("ask price")}};
  EXPECT_EQ(play(says(with(true), "x"), script).result.text, "It is 3.");
  for (const Value& answer : {foretold("", "", ""), foretold("thank", "", "")}) {
    const auto played = play(says(with(true, false), "x"), {{single, answer}});
    EXPECT_EQ(played.result.outcome, Outcome::failed);
    EXPECT_THAT(played.result.error, testing::HasSubstr("the model named no"));
    EXPECT_THAT(played.asked, ElementsAre(single));
  }
}

TEST(SingleCall, has_the_knowledge_base_before_it_and_once) {
  auto knowing = with(true);
  knowing->knowledge = {{"kb/a.md", "# A\n\nNine."}};
  const auto played = play(says(knowing, "x"), {{"retrieve_relevant_chunks", Value("Nine.")},
                                                {single, foretold("ask hours", "inform hours", "At nine.")},
                                                {"self_check_output", Value(true)}});
  EXPECT_THAT(played.asked, ElementsAre("retrieve_relevant_chunks", single, "self_check_output"));
}

TEST(SeveralSteps, are_taken_up_to_the_users_and_go_on_with_it) {
  const auto first =
      play(says(with(false), "thanks"),
           {{"generate_user_intent", Value("thank")},
            {"generate_next_step",
             steps({"bot say welcome", "bot offer help", "user thank", "bot say goodbye", "user ask price", "bot x"})},
            {"generate_bot_message", Value("Welcome.")},
            {"self_check_output", Value(true)}});
  EXPECT_EQ(first.result.text, "Welcome.\nAnything else?");
  EXPECT_THAT(first.asked,
              ElementsAre("generate_user_intent", "generate_next_step", "generate_bot_message", "self_check_output"));
  EXPECT_THAT(first.result.state.planned, ElementsAre("user thank", "bot say goodbye", "user ask price", "bot x"));

  TurnInput second = says(with(false), "thanks");
  second.state = first.result.state;
  const auto on = play(second, {{"generate_user_intent", Value("thank")},
                                {"generate_bot_message", Value("Bye.")},
                                {"self_check_output", Value(true)}});
  EXPECT_EQ(on.result.text, "Bye.");
  EXPECT_THAT(on.asked, ElementsAre("generate_user_intent", "generate_bot_message", "self_check_output"));
  EXPECT_THAT(on.result.state.planned, ElementsAre("user ask price", "bot x"));

  TurnInput third = says(with(false), "price?");
  third.state = on.result.state;
  const auto flow = play(third, {{"generate_user_intent", Value("ask price")}});
  EXPECT_EQ(flow.result.text, "It is 3.") << "a flow comes before what was planned";
  EXPECT_TRUE(flow.result.state.planned.empty());

  third.state.planned = {"user ask hours", "bot x"};
  EXPECT_TRUE(play(third, {{"generate_user_intent", Value("thank")}, {"generate_next_step", Value("offer help")}})
                  .result.state.planned.empty())
      << "the user did something else";
}

TEST(SeveralSteps, that_are_none_end_the_turn) {
  const std::string longer(300, 'x');
  for (const std::string& junk : {std::string("bot a\nuser \"b\""), std::string("execute pay"), "bot " + longer}) {
    const auto played = play(says(with(false), "thanks"),
                             {{"generate_user_intent", Value("thank")},
                              {"generate_next_step", steps({"bot offer help", junk.c_str(), "bot offer help"})}});
    EXPECT_EQ(played.result.text, "Anything else?") << junk;
    EXPECT_TRUE(played.result.state.planned.empty());
  }
}

}  // namespace
}  // namespace stackgate::guardrail
