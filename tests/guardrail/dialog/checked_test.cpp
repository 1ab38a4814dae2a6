// Which texts pass rails: answers that actions made, chunks that the client or code of the user's gave.
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

constexpr const char* checked_flows = R"(
define subflow check
  $allowed = execute self_check_output
  if not $allowed
    bot refuse to respond
    stop

define subflow mask chunks
  $relevant_chunks = execute mask_sensitive_data(text=$relevant_chunks)

define flow
  user a
  $answer = execute search
  bot $answer

define flow
  user b
  $answer = execute search
  bot $answer.text

define flow
  user c
  $answer = execute search
  bot "I found $answer."

define user a
  "a"
define user b
  "b"
define user c
  "c"
)";

TEST(CheckedTexts, are_those_that_actions_made) {
  const auto with = configuration(checked_flows, {.output = {"check"}});
  const auto dict = std::make_shared<jinja::Dict>();
  dict->set(Value("text"), Value("a secret"));
  for (const bool allowed : {true, false})
    for (const char* intent : {"a", "b"}) {
      const Value found = *intent == 'a' ? Value("a secret") : Value(jinja::DictPtr(dict));
      const auto played =
          play(says(with, "x"),
               {{"generate_user_intent", Value(intent)}, {"search", found}, {"self_check_output", Value(allowed)}});
      EXPECT_THAT(played.asked, ElementsAre("generate_user_intent", "search", "self_check_output")) << intent;
      EXPECT_EQ(played.result.text, allowed ? "a secret" : "No.");
      EXPECT_EQ(played.result.outcome, allowed ? Outcome::passed : Outcome::blocked);
      if (!allowed) {
        EXPECT_THAT(played.result.concealed, testing::Contains("answer"));
        EXPECT_THAT(played.result.hidden, testing::Contains("a secret"));
      }
    }
  const auto configured = play(says(with, "x"), {{"generate_user_intent", Value("c")}, {"search", Value("it")}});
  EXPECT_EQ(configured.result.text, "I found it.") << "no rail looks at what the configuration says";
}

TEST(CheckedChunks, of_the_client_pass_the_retrieval_rails) {
  const auto with = configuration(checked_flows, {.retrieval = {"mask chunks"}});
  TurnInput input = says(with, "x");
  input.context = {{"relevant_chunks", Value("Ann's number")}};
  const test::Script script = {{"generate_user_intent", Value("d")},
                               {"generate_next_step", Value("say it")},
                               {"mask_sensitive_data", Value("<PERSON>'s number")},
                               {"generate_bot_message", Value("x")}};
  const auto played = play(input, script);
  EXPECT_THAT(played.asked,
              ElementsAre("generate_user_intent", "generate_next_step", "mask_sensitive_data", "generate_bot_message"));
  EXPECT_EQ(played.result.variables.bytes("relevant_chunks"), "<PERSON>'s number");
  EXPECT_THAT(played.result.hidden, ElementsAre("Ann's number"));
  input.rails.retrieval.on = false;
  EXPECT_THAT(play(input, script).asked, testing::Not(testing::Contains("mask_sensitive_data")));
}

TEST(CheckedChunks, of_an_action_of_the_users_pass_them_too) {
  auto with =
      std::make_shared<Configuration>(*configuration("define subflow mask\n  $relevant_chunks = execute "
                                                     "mask_sensitive_data(text=$relevant_chunks)\n",
                                                     {.retrieval = {"mask"}}));
  with->python_actions = {{"retrieve_relevant_chunks"}};
  const auto played = play(says(with, "x"), {{"retrieve_relevant_chunks", Value("Ann's number")},
                                             {"mask_sensitive_data", Value("<PERSON>'s number")},
                                             {"generate", Value("x")}});
  EXPECT_THAT(played.asked, ElementsAre("retrieve_relevant_chunks", "mask_sensitive_data", "generate"));
}

}  // namespace
}  // namespace stackgate::guardrail
