#include "services/guardrail/dialog/turn.hpp"

#include <algorithm>

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

constexpr const char* check = R"(
define subflow self check input
  $allowed = execute self_check_input
  if not $allowed
    if $config.enable_rails_exceptions
      create event InputRailException(message="Input not allowed.")
    else
      bot refuse to respond
    stop

define subflow self check output
  $allowed = execute self_check_output
  if not $allowed
    bot refuse to respond
    stop

define subflow mask
  $user_message = execute mask_sensitive_data(text=$user_message)

define subflow mask output
  $bot_message = execute mask_sensitive_data(text=$bot_message)
)";

TEST(Turn, without_rails_is_one_plain_answer) {
  const auto played = play(says(configuration(""), "Hello"), {{"generate", Value("Hi!")}});
  EXPECT_EQ(played.result.outcome, Outcome::passed);
  EXPECT_EQ(played.result.text, "Hi!");
  EXPECT_THAT(played.asked, ElementsAre("generate"));
}

TEST(Turn, passes_the_rails_in_their_order) {
  const auto with = configuration(check, {.input = {"self check input"}, .output = {"self check output"}});
  const auto played =
      play(says(with, "Hello"),
           {{"self_check_input", Value(true)}, {"generate", Value("Hi!")}, {"self_check_output", Value(true)}});
  EXPECT_EQ(played.result.text, "Hi!");
  EXPECT_THAT(played.asked, ElementsAre("self_check_input", "generate", "self_check_output"));
  ASSERT_EQ(played.result.rails.size(), 3U);
  EXPECT_EQ(played.result.rails[0].name, "self check input");
  EXPECT_EQ(played.result.rails[1].type, RailType::generation);
  EXPECT_EQ(played.result.rails[2].actions.front().name, "self_check_output");
}

TEST(Turn, ends_where_an_input_rail_stops_and_asks_no_model_for_an_answer) {
  const auto with = configuration(check, {.input = {"self check input", "mask"}, .output = {"self check output"}});
  const auto played = play(says(with, "bad"), {{"self_check_input", Value(false)}});
  EXPECT_EQ(played.result.outcome, Outcome::blocked);
  EXPECT_EQ(played.result.rail, "self check input");
  EXPECT_EQ(played.result.text, "No.");
  EXPECT_TRUE(played.result.rails[0].stop);
  EXPECT_THAT(played.asked, ElementsAre("self_check_input"));
}

TEST(Turn, replaces_an_answer_that_an_output_rail_stops) {
  const auto with = configuration(check, {.output = {"self check output"}});
  const auto played = play(says(with, "x"), {{"generate", Value("bad")}, {"self_check_output", Value(false)}});
  EXPECT_EQ(played.result.outcome, Outcome::blocked);
  EXPECT_EQ(played.result.text, "No.");
}

TEST(Turn, fails_closed_when_an_action_fails) {
  const auto with = configuration(check, {.input = {"self check input"}});
  const auto played = play(says(with, "x"), {});
  EXPECT_EQ(played.result.outcome, Outcome::blocked);
  EXPECT_EQ(played.result.text, "No.");
  EXPECT_THAT(played.result.error, testing::HasSubstr("not in the script"));
}

TEST(Turn, fails_closed_when_an_expression_is_faulty_or_a_rail_waits) {
  for (const char* rail : {"define subflow r\n  $x = 1 / 0\n", "define flow r\n  user ...\n  bot hi\n",
                           "define bot hi\n  \"Hi\"\n\ndefine flow r\n  bot hi\n  $x = 1 / 0\n"}) {
    const auto played = play(says(configuration(rail, {.input = {"r"}}), "x"), {{"generate", Value("leak")}});
    EXPECT_EQ(played.result.outcome, Outcome::blocked) << rail;
    EXPECT_EQ(played.result.text, "No.");
    EXPECT_THAT(played.result.error, testing::HasSubstr("rail \"r\"")) << rail;
  }
}

TEST(Turn, whose_rail_masks_shows_the_masked_text_to_all_that_follow) {
  const auto with = configuration(check, {.input = {"mask", "self check input"}, .output = {"mask output"}});
  Turn turn(says(with, "I am Ann"));
  auto requests = turn.begin(Moment(1));
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].parameters.at("text").bytes(), "I am Ann");
  requests = turn.finished({.id = requests[0].id, .value = Value("I am <PERSON>")}, Moment(2));
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].context.bytes("user_message"), "I am <PERSON>");
  requests = turn.finished({.id = requests[0].id, .value = Value(true)}, Moment(3));
  EXPECT_EQ(requests.at(0).action, "generate");
  EXPECT_EQ(requests[0].context.bytes("user_message"), "I am <PERSON>");
  requests = turn.finished({.id = requests[0].id, .value = Value("Hi Ann")}, Moment(4));
  requests = turn.finished({.id = requests.at(0).id, .value = Value("Hi <PERSON>")}, Moment(5));
  ASSERT_TRUE(turn.done());
  EXPECT_EQ(turn.result().text, "Hi <PERSON>");
  EXPECT_EQ(turn.result().outcome, Outcome::modified);
  EXPECT_EQ(turn.result().user_message, "I am <PERSON>");
}

TEST(Turn, gives_an_exception_instead_of_a_text_where_flows_create_one) {
  auto with =
      std::make_shared<Configuration>(*configuration(check, {.input = {"self check input"}, .exceptions = true}));
  auto config = std::make_shared<jinja::Dict>();
  config->set(Value("enable_rails_exceptions"), Value(true));
  with->config_value = Value(jinja::DictPtr(config));
  const auto played = play(says(with, "x"), {{"self_check_input", Value(false)}});
  ASSERT_TRUE(played.result.exception.has_value());
  EXPECT_EQ(played.result.exception->type, "InputRailException");
  EXPECT_EQ(played.result.exception->values.at("message").bytes(), "Input not allowed.");
  EXPECT_EQ(played.result.text, "");
}

TEST(Turn, checks_a_given_answer_without_asking_for_one) {
  const auto with = configuration(check, {.input = {"self check input"}, .output = {"self check output"}});
  TurnInput input = says(with, "x");
  input.bot_message = "given";
  const auto played = play(input, {{"self_check_input", Value(true)}, {"self_check_output", Value(true)}});
  EXPECT_EQ(played.result.text, "given");
  EXPECT_THAT(played.asked, ElementsAre("self_check_input", "self_check_output"));
}

TEST(Turn, with_input_rails_only_gives_back_the_checked_message) {
  const auto with = configuration(check, {.input = {"mask"}, .output = {"self check output"}});
  TurnInput input = says(with, "I am Ann");
  input.rails.dialog.on = input.rails.output.on = input.rails.retrieval.on = false;
  const auto played = play(input, {{"mask_sensitive_data", Value("I am <PERSON>")}});
  EXPECT_EQ(played.result.text, "I am <PERSON>");
  EXPECT_EQ(played.result.outcome, Outcome::modified);
  EXPECT_THAT(played.asked, ElementsAre("mask_sensitive_data"));
}

TEST(Turn, runs_only_the_rails_that_the_request_names) {
  const auto with = configuration(check, {.input = {"self check input", "mask"}});
  TurnInput input = says(with, "x");
  input.rails.input.only = std::vector<std::string>{"mask"};
  EXPECT_THAT(play(input, {{"mask_sensitive_data", Value("x")}, {"generate", Value("ok")}}).asked,
              ElementsAre("mask_sensitive_data", "generate"));
}

constexpr const char* two_checks = R"(
define subflow self check input
  $allowed = execute self_check_input
  if not $allowed
    bot refuse to respond
    stop

define subflow topic safety
  $allowed = execute topic_safety_check_input
  if not $allowed
    bot "Off topic."
    stop
)";

TEST(Turn, asks_models_side_by_side_where_rails_do_not_depend_on_each_other) {
  const auto with = configuration(two_checks, {.input = {"self check input", "topic safety"}});
  const test::Script good = {
      {"self_check_input", Value(true)}, {"topic_safety_check_input", Value(true)}, {"generate", Value("ok")}};
  for (const bool last_first : {false, true}) {
    const auto played = play(says(with, "x"), good, last_first);
    EXPECT_EQ(played.side_by_side.front(), 2U);
    EXPECT_EQ(played.result.text, "ok");
  }
  test::Script bad = good;
  bad["topic_safety_check_input"] = Value(false);
  for (const bool last_first : {false, true}) {
    const auto played = play(says(with, "x"), bad, last_first);
    EXPECT_EQ(played.result.text, "Off topic.");
    EXPECT_EQ(played.result.rail, "topic safety");
    EXPECT_EQ(played.asked.size(), last_first ? 1U : 2U);
  }
}

TEST(Turn, waits_for_servers_side_by_side_and_for_what_is_found_here_alone) {
  const std::string rails = std::string(two_checks) + R"(
define subflow jailbreak
  $found = execute jailbreak_detection_heuristics
  if $found
    stop

define subflow patterns
  $found = execute detect_regex_pattern(source="input", text=$user_message)
  if $found
    stop
)";
  const auto begun = [&](const std::string& other) {
    Turn turn(says(configuration(rails, {.input = {"self check input", other}}), "x"));
    return turn.begin(Moment(1)).size();
  };
  EXPECT_EQ(begun("topic safety"), 2U);
  EXPECT_EQ(begun("jailbreak"), 2U);
  EXPECT_EQ(begun("patterns"), 1U);
}

TEST(Turn, never_lets_a_rail_overtake_one_that_alters_what_it_reads) {
  const auto with = configuration(std::string(two_checks) + R"(
define subflow mask
  $user_message = execute mask_sensitive_data(text=$user_message)
)",
                                  {.input = {"self check input", "mask", "topic safety"}});
  const auto played = play(says(with, "x"), {{"self_check_input", Value(true)},
                                             {"mask_sensitive_data", Value("y")},
                                             {"topic_safety_check_input", Value(true)},
                                             {"generate", Value("ok")}});
  EXPECT_THAT(played.side_by_side, testing::Each(testing::Le(1U)));
}

TEST(Turn, gives_each_rail_its_own_arguments) {
  const auto with =
      configuration(R"(
define subflow content safety check input
  $response = execute content_safety_check_input(model=$model)
  if not $response["allowed"]
    bot refuse to respond
    stop
)",
                    {.input = {"content safety check input $model=one", "content safety check input $model=two"}});
  Turn turn(says(with, "x"));
  const auto requests = turn.begin(Moment(1));
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].parameters.at("model").bytes(), "one");
  EXPECT_EQ(requests[1].parameters.at("model").bytes(), "two");
  EXPECT_EQ(requests[1].rail_name, "content safety check input $model=two");
}

constexpr const char* dialog = R"(
define user express greeting
  "hello"
  "hi"

define user ask about prices
  "what does it cost?"

define bot express greeting
  "Hello, {{ name }}!"

define bot inform prices
  "It costs $price euros."

define flow greeting
  user express greeting
  $name = execute fetch_name
  bot express greeting
  user ask about prices
  $price = 40 + 2
  bot inform prices

define flow
  user ask about prices
  bot say something that a model writes
)";

TEST(Turn, follows_flows_over_turns) {
  const auto with = configuration(dialog, {.output = {}});
  auto first = play(says(with, "hi there"),
                    {{"generate_user_intent", Value("express greeting")}, {"fetch_name", Value("Ann {{ 1 }}")}});
  EXPECT_EQ(first.result.text, "Hello, Ann {{ 1 }}!");
  ASSERT_EQ(first.result.state.waiting.size(), 1U);
  TurnInput second = says(with, "and the price?");
  second.state = first.result.state;
  auto answered = play(second, {{"generate_user_intent", Value("ask about prices")}});
  EXPECT_EQ(answered.result.text, "It costs 42 euros.");
  EXPECT_TRUE(answered.result.state.waiting.empty());
  EXPECT_THAT(answered.result.colang_history, testing::HasSubstr("bot inform prices"));

  auto alone = play(says(with, "price?"),
                    {{"generate_user_intent", Value("ask about prices")}, {"generate_bot_message", Value("Much.")}});
  EXPECT_EQ(alone.result.text, "Much.");
}

TEST(Turn, forgets_places_of_a_configuration_that_has_changed) {
  TurnInput input =
      says(configuration(
               "define user express greeting\n  \"hi\"\ndefine flow greeting\n  user express greeting\n  bot hello\n"),
           "x");
  input.state.waiting = {{"greeting", 4}, {"no such flow", 0}, {"greeting", 1'000'000}};
  EXPECT_EQ(play(input, {{"generate_user_intent", Value("express greeting")}, {"generate_bot_message", Value("Hello")}})
                .result.text,
            "Hello");
}

TEST(Turn, keeps_a_bounded_state) {
  TurnInput input =
      says(configuration("define user ask\n  \"?\"\ndefine flow greeting\n  user express greeting\n  bot hello\n  "
                         "user ask\n  bot hello\n"),
           "x");
  input.state.waiting.assign(100, {"greeting", 2});
  input.context = {{"short", Value("kept")}, {"long", Value(std::string(1U << 20U, 'x'))}};
  const auto kept =
      play(input, {{"generate_user_intent", Value("express greeting")}, {"generate_bot_message", Value("Hello")}})
          .result.state;
  EXPECT_EQ(kept.waiting.size(), 32U);
  EXPECT_TRUE(kept.variables.contains("short"));
  EXPECT_FALSE(kept.variables.contains("long"));
}

TEST(Turn, asks_the_model_for_the_next_step_when_no_flow_knows_it) {
  const auto played = play(says(configuration(dialog), "x"), {{"generate_user_intent", Value("something else")},
                                                              {"generate_next_step", Value("express greeting")},
                                                              {"generate_bot_message", Value("not asked for")}});
  EXPECT_EQ(played.result.text, "Hello, !");
  EXPECT_THAT(played.asked, ElementsAre("generate_user_intent", "generate_next_step"));
}

TEST(Turn, chooses_by_branches_loops_and_subflows) {
  const auto with = configuration(R"(
define subflow greet
  if $count > 2
    bot "many"
  else
    bot "few"

define flow
  user ...
  $count = 0
  while $count < 3
    $count = $count + 1
  do greet
  when user say yes
    bot "yes"
  else when user say no
    bot "no"

define user say yes
  "yes"
define user say no
  "no"
)");
  const auto first = play(says(with, "x"), {{"generate_user_intent", Value("whatever")}});
  EXPECT_EQ(first.result.text, "many");
  TurnInput second = says(with, "no");
  second.state = first.result.state;
  EXPECT_EQ(play(second, {{"generate_user_intent", Value("say no")}}).result.text, "no");
}

TEST(Turn, ends_when_flows_take_too_many_steps_or_actions) {
  const auto loop = configuration("define flow\n  user ...\n  $x = True\n  while $x\n    $x = execute again\n");
  const auto actions = play(says(loop, "x"), {{"again", Value(true)}, {"generate_user_intent", Value("a")}});
  EXPECT_EQ(actions.result.outcome, Outcome::failed);
  EXPECT_THAT(actions.result.error, testing::HasSubstr("too many actions"));
  TurnInput steps =
      says(configuration("define flow\n  user ...\n  $x = 1\n  while $x > 0\n    $x = $x + 1\n  bot \"end\"\n"), "x");
  EXPECT_EQ(play(steps, {}).result.outcome, Outcome::failed);
}

TEST(Turn, starts_flows_by_events_that_flows_create) {
  const auto with = configuration(R"(
define flow
  user ...
  create event OrderPlaced(size=3)
  bot "ordered"

define flow
  event OrderPlaced(size=3)
  bot "three it is"

define flow
  event OrderPlaced(size=4)
  bot "four it is"
)");
  EXPECT_EQ(play(says(with, "x"), {}).result.text, "ordered\nthree it is");
}

TEST(Turn, reads_no_text_of_users_or_models_as_a_template) {
  const auto with = configuration("define flow\n  user ...\n  bot \"You said: $user_message\"\n");
  const auto played = play(says(with, "{{ config }} {% for x in y %} $price"), {});
  EXPECT_EQ(played.result.text, "You said: {{ config }} {% for x in y %} $price");
}

TEST(Turn, shows_calls_of_tools_to_output_rails_and_never_sends_altered_ones) {
  const auto with = configuration(check, {.output = {"mask output"}});
  for (const bool alters : {false, true}) {
    Turn turn(says(with, "x"));
    auto requests = turn.begin(Moment(1));
    requests = turn.finished({.id = requests.at(0).id,
                              .value = Value(""),
                              .context_updates = {{"generated_tool_calls", Value("pay(Ann)\n")}}},
                             Moment(2));
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].parameters.at("text").bytes(), "pay(Ann)\n");
    turn.finished({.id = requests[0].id, .value = Value(alters ? "pay(<PERSON>)\n" : "pay(Ann)\n")}, Moment(3));
    ASSERT_TRUE(turn.done());
    EXPECT_EQ(turn.result().outcome, alters ? Outcome::blocked : Outcome::passed);
    EXPECT_EQ(turn.result().text, alters ? "No." : "");
  }
}

TEST(Turn, runs_the_rails_for_calls_of_tools) {
  const std::string rail =
      "define flow judge calls\n  $ok = execute judge(calls=$tool_calls)\n  if not $ok\n    stop\n";
  auto with = std::make_shared<Configuration>(*configuration(rail));
  RailCall call;
  call.text = call.flow = "judge calls";
  call.index = with->program.flow_by_name.at("judge calls");
  with->tool_output.flows = {call};
  for (const bool given : {false, true})
    for (const bool allows : {false, true}) {
      TurnInput input = says(with, "x");
      if (given) input.bot_message = "", input.tool_calls = "pay(Ann)\n";
      Turn turn(std::move(input));
      auto requests = turn.begin(Moment(1));
      if (!given)
        requests = turn.finished({.id = requests.at(0).id,
                                  .value = Value(""),
                                  .context_updates = {{"generated_tool_calls", Value("pay(Ann)\n")}}},
                                 Moment(2));
      ASSERT_EQ(requests.size(), 1U);
      EXPECT_EQ(requests[0].parameters.at("calls").bytes(), "pay(Ann)\n");
      turn.finished({.id = requests[0].id, .value = Value(allows)}, Moment(3));
      ASSERT_TRUE(turn.done());
      EXPECT_EQ(turn.result().outcome, allows ? Outcome::passed : Outcome::blocked);
    }
}

/// A turn with the result of a tool, and rails of `tool_input` by name.
TurnInput gives_result(const std::string& colang, const std::vector<std::string>& tool_rails,
                       const test::Rails& rails) {
  auto with = std::make_shared<Configuration>(*configuration(colang, rails));
  for (const std::string& name : tool_rails) {
    RailCall call;
    call.text = call.flow = name;
    call.index = with->program.flow_by_name.at(name);
    with->tool_input.flows.push_back(call);
  }
  TurnInput out = says(with, "");
  out.tool_result = ToolResult{.text = "Ann owes 3", .name = "debts", .call_id = "c1"};
  out.tool_calls = "debts()\n";
  return out;
}

TEST(Turn, shows_results_of_tools_to_the_rails_for_them_and_to_those_for_users) {
  const std::string rails = std::string(check) + R"(
define flow judge result
  $ok = execute judge(name=$tool_name, id=$tool_call_id, text=$tool_message, calls=$tool_calls)
  if not $ok
    bot refuse to respond
    stop

define flow mask result
  $tool_message = execute hide(text=$tool_message)
)";
  struct Case {
    const char* what;
    std::vector<std::string> tool_rails, input;
    test::Script script;
    Outcome outcome;
    const char* text;
    std::vector<std::string> asked;
  };
  const Case cases[] = {
      {"passes", {"judge result"}, {}, {{"judge", Value(true)}}, Outcome::passed, "Ann owes 3", {"judge"}},
      {"is blocked", {"judge result"}, {"mask"}, {{"judge", Value(false)}}, Outcome::blocked, "Ann owes 3", {"judge"}},
      {"fails closed", {"judge result"}, {}, {}, Outcome::blocked, "Ann owes 3", {"judge"}},
      {"is altered", {"mask result"}, {}, {{"hide", Value("X owes 3")}}, Outcome::modified, "X owes 3", {"hide"}},
      {"is altered as a user's text is",
       {"mask"},
       {},
       {{"mask_sensitive_data", Value("<PERSON> owes 3")}},
       Outcome::modified,
       "<PERSON> owes 3",
       {"mask_sensitive_data"}},
      {"and then passes the input rails",
       {"mask result"},
       {"mask"},
       {{"hide", Value("X owes 3")}, {"mask_sensitive_data", Value("X owes <N>")}},
       Outcome::modified,
       "X owes <N>",
       {"hide", "mask_sensitive_data"}},
  };
  for (const Case& each : cases) {
    const auto played = play(gives_result(rails, each.tool_rails, {.input = each.input}), each.script);
    EXPECT_EQ(played.result.outcome, each.outcome) << each.what << ": " << played.result.error;
    EXPECT_EQ(played.result.user_message, each.text) << each.what;
    EXPECT_EQ(played.asked, each.asked) << each.what;
  }
  Turn turn(gives_result(rails, {"judge result"}, {}));
  const auto requests = turn.begin(Moment(1));
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].parameters.at("name").bytes(), "debts");
  EXPECT_EQ(requests[0].parameters.at("id").bytes(), "c1");
  EXPECT_EQ(requests[0].parameters.at("text").bytes(), "Ann owes 3");
  EXPECT_EQ(requests[0].parameters.at("calls").bytes(), "debts()\n");
  for (const bool by_user_message_first : {false, true}) {
    std::vector<std::string> both = {"mask", "mask result"};
    if (!by_user_message_first) std::ranges::reverse(both);
    Turn altering(gives_result(rails, both, {}));
    auto asked = altering.begin(Moment(1));
    asked = altering.finished({.id = asked.at(0).id, .value = Value("once")}, Moment(2));
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].parameters.at("text").bytes(), "once");
    altering.finished({.id = asked[0].id, .value = Value("twice")}, Moment(3));
    EXPECT_EQ(altering.result().user_message, "twice");
  }
  TurnInput off = gives_result(rails, {"judge result"}, {});
  off.rails.tool_results.on = false;
  EXPECT_EQ(play(off, {}).result.outcome, Outcome::passed);
}

TEST(Turn, counts_results_of_nobody_as_nothing) {
  Turn turn(says(configuration(""), "x"));
  EXPECT_EQ(turn.begin(Moment(1)).size(), 1U);
  EXPECT_TRUE(turn.finished({.id = 99, .value = Value("leak")}, Moment(2)).empty());
  EXPECT_FALSE(turn.done());
}

}  // namespace
}  // namespace stackgate::guardrail
