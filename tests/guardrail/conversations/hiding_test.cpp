// What rails altered or refused is in no variable of an answer, in no state and in no next turn, in whatever part.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/kit/json/write.hpp"
#include "tests/guardrail/conversations/serving.hpp"

namespace stackgate::guardrail {
namespace {

using test::Asked;

constexpr std::string_view noting_flows = R"(define flow look at answer
  $whole = $bot_message
  $words = $bot_message.split(" ")
  $first = $words[0]
  $shouted = "it was " + $first.upper()
  $long = len($bot_message)
  $verdict = "judged"

define flow look at question
  $asked = $user_message
  $asker = $user_message.split(" ")[0]
  $topic = "prices"

define flow shorten answer
  $short = $bot_message.split(" ")[1]
  $bot_message = $short

define flow refuse answer
  $why = "too frank"
  $quoted = $bot_message[0:10]
  bot refuse to respond
  stop
)";

class HiddenVariables : public testing::Test {
 protected:
  void serve(const std::string& rails) {
    serving_.serve(
        test::configuration_of({{"b.yml", R"(rails:
  config:
    sensitive_data_detection: {output: {entities: [EMAIL_ADDRESS]}, input: {entities: [EMAIL_ADDRESS]}}
    regex_detection: {input: {patterns: [forbidden]}}
)"},
                                {"c.yml", rails},
                                {"r.co", std::string(noting_flows)}}),
        [](web::Call&, const Asked& asked, int) { return test::main_answer(asked, {"ann@example.com knows it"}); });
  }
  std::string ask(const std::string& more, const std::string& text = "bob@example.org asks me") {
    return serving_
        .post("/v1/chat/completions",
              fmt::format(R"({{"config_id":"c","messages":[{{"role":"user","content":"{}"}}],{}}})", text, more))
        .body;
  }
  static constexpr std::string_view everything =
      R"("state":{},"options":{"output_vars":true,"llm_output":true,"log":{"activated_rails":true,"llm_calls":true,)"
      R"("internal_events":true,"colang_history":true}})";
  static std::string_view variable(const test::Read& answer, std::string_view name) {
    return json::text(*answer, {"output_data", name});
  }

  test::Serving serving_{};
};

TEST_F(HiddenVariables, of_an_answer_that_a_rail_masked) {
  serve("rails: {output: {flows: [look at answer, mask sensitive data on output]}}\n");
  const std::string body = ask(std::string(everything));
  EXPECT_FALSE(body.contains("ann@") || body.contains("ANN@")) << body;
  const test::Read answer(body);
  EXPECT_TRUE(body.contains("<EMAIL_ADDRESS> knows it")) << body;
  EXPECT_EQ(variable(answer, "verdict"), "judged") << "what holds nothing of the answer is shown";
  EXPECT_TRUE(body.contains(R"("long":24)")) << body;
  EXPECT_EQ(json::text(*answer, {"state", "variables", "verdict"}), "judged") << body;
}

TEST_F(HiddenVariables, made_behind_the_mask_are_shown) {
  serve("rails: {output: {flows: [mask sensitive data on output, look at answer]}}\n");
  const test::Read answer(ask(std::string(everything)));
  EXPECT_EQ(variable(answer, "first"), "<EMAIL_ADDRESS>");
  EXPECT_EQ(variable(answer, "whole"), "<EMAIL_ADDRESS> knows it");
  EXPECT_EQ(json::text(*answer, {"state", "variables", "shouted"}), "it was <EMAIL_ADDRESS>");
}

TEST_F(HiddenVariables, of_an_answer_that_passed_are_shown) {
  serve("rails: {output: {flows: [look at answer]}}\n");
  const test::Read answer(ask(std::string(everything)));
  EXPECT_EQ(variable(answer, "first"), "ann@example.com");
  EXPECT_EQ(json::text(*answer, {"state", "variables", "whole"}), "ann@example.com knows it");
}

TEST_F(HiddenVariables, that_a_rail_made_the_answer_of_are_shown) {
  serve("rails: {output: {flows: [look at answer, shorten answer]}}\n");
  const std::string body = ask(std::string(everything));
  const test::Read answer(body);
  EXPECT_EQ(variable(answer, "short"), "knows") << body;
  EXPECT_EQ(json::text(*answer, {"state", "variables", "short"}), "knows") << body;
  EXPECT_FALSE(body.contains("ann@") || body.contains("ANN@")) << body;
}

TEST_F(HiddenVariables, of_an_answer_that_a_rail_refused) {
  serve("rails: {output: {flows: [look at answer, refuse answer]}}\n");
  const std::string body = ask(std::string(everything));
  EXPECT_FALSE(body.contains("ann@") || body.contains("ANN@")) << body;
  const test::Read answer(body);
  EXPECT_EQ(variable(answer, "why"), "too frank") << "what the rail that blocks has set is there: " << body;
  EXPECT_EQ(variable(answer, "verdict"), "judged");
}

// A thread keeps the state at the server, and shows it when it is asked for in a later turn.
TEST_F(HiddenVariables, come_back_in_no_later_turn) {
  serve("rails: {output: {flows: [look at answer, mask sensitive data on output]}}\n");
  const std::string thread = R"("thread_id":"a-thread-of-this-test",)";
  (void)ask(thread + R"("stream":false)");
  serve("models: []\n");
  const std::string later = ask(thread + R"("options":{"output_vars":["whole","words","first","shouted","verdict"]})");
  EXPECT_TRUE(
      later.contains(R"("output_data":{"whole":null,"words":null,"first":null,"shouted":null,"verdict":"judged"})"))
      << later;
}

// The user knows what the user wrote; what is kept must not hold it.
TEST_F(HiddenVariables, of_a_question_that_a_rail_masked_are_not_kept) {
  serve("rails: {input: {flows: [look at question, mask sensitive data on input]}}\n");
  const test::Read masked(ask(std::string(everything)));
  EXPECT_EQ(variable(masked, "asker"), "bob@example.org");
  const std::string state = json::to_json(*json::at(*masked, {"state"}));
  EXPECT_FALSE(state.contains("bob@")) << state;
  EXPECT_TRUE(state.contains(R"("topic":"prices")")) << state;
  serve("rails: {input: {flows: [look at question, regex check input]}}\n");
  const test::Read refused(ask(std::string(everything), "a forbidden thing of mine"));
  EXPECT_FALSE(json::to_json(*json::at(*refused, {"state"})).contains("forbidden"));
}

}  // namespace
}  // namespace stackgate::guardrail
