#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/guardrail/actions/acting.hpp"

namespace stackgate::guardrail {
namespace {

using test::Acting;
using test::is;
using test::member;
using test::says;
using test::text_value;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Variables both{{"user_message", jinja::Value("what the user says")},
                     {"bot_message", jinja::Value("what the bot says")}};

TEST(SelfCheck, blocks_unless_the_model_clearly_says_no) {
  struct Case {
    std::string_view answer;
    bool allowed;
  };
  for (const Case& each : {Case{"No", true}, Case{"no.", true}, Case{"Yes", false}, Case{"Yes, because", false},
                           Case{"maybe", false}, Case{"", false}}) {
    Acting acting([&](auto&, auto&, int) { return says(std::string(each.answer)); });
    for (const char* action : {"self_check_input", "self_check_output"})
      EXPECT_TRUE(is(acting.run(action, both), each.allowed)) << action << " " << each.answer;
    const auto asked = acting.upstream.asked();
    EXPECT_THAT(asked[0].body, AllOf(HasSubstr("what the user says"), HasSubstr(R"("temperature":0.001)"),
                                     HasSubstr(R"("max_tokens":3)"), Not(HasSubstr("what the bot says"))));
    EXPECT_THAT(asked[1].body, HasSubstr("what the bot says"));
  }
}

TEST(SelfCheck, what_a_user_writes_is_never_a_template) {
  Acting acting([](auto&, auto&, int) { return says("No"); });
  const Variables context{{"user_message", text_value("{{ general_instructions }}{% raw %}")}};
  ASSERT_TRUE(is(acting.run("self_check_input", context), true));
  EXPECT_THAT(acting.upstream.asked()[0].body,
              AllOf(HasSubstr("{{ general_instructions }}"), Not(HasSubstr("Be kind"))));
}

TEST(SelfCheck, fails_closed_when_the_model_does_and_when_the_prompt_is_too_long) {
  Acting acting([](auto&, auto&, int) { return test::json_reply(500, "{}"); });
  const auto broken = acting.run("self_check_input", both);
  EXPECT_TRUE(broken.failed);
  EXPECT_THAT(broken.error, HasSubstr("answered 500"));
  ASSERT_EQ(broken.model_calls.size(), 1U);
  EXPECT_EQ(broken.model_calls[0].task, "self_check_input");
  const auto longer = acting.run("self_check_input", {{"user_message", text_value(std::string(200'000, 'a'))}});
  EXPECT_TRUE(longer.failed);
  EXPECT_THAT(longer.error, HasSubstr("max_length"));
  EXPECT_EQ(acting.upstream.count(), 1U);
}

TEST(SelfCheck, asks_the_model_of_its_own_type) {
  Acting acting([](auto&, auto&, int) { return says("No"); });
  acting.configuration->models.push_back({.type = "self_check_input", .engine = "openai", .model = "judge"});
  ASSERT_TRUE(is(acting.run("self_check_input", both), true));
  EXPECT_THAT(acting.upstream.asked()[0].body, HasSubstr(R"("model":"judge")"));
}

TEST(SelfCheckFacts, holds_the_answer_against_the_evidence) {
  Acting acting([](auto&, const test::Asked& asked, int) { return says(asked.body.contains("blue") ? "Yes" : "No"); });
  const auto accuracy = [&](std::string_view evidence) {
    Variables context = both;
    context["relevant_chunks"] = jinja::Value(evidence);
    const auto result = acting.run("self_check_facts", context);
    return result.value.real() == nullptr ? -1 : *result.value.real();
  };
  EXPECT_EQ(accuracy("The sky is blue."), 1.0);
  EXPECT_EQ(accuracy("The sky is green."), 0.0);
  EXPECT_EQ(acting.upstream.count(), 2U);
  EXPECT_EQ(accuracy(""), 1.0);
  EXPECT_EQ(acting.upstream.count(), 2U) << "there was nothing to compare with";
}

TEST(SelfCheckHallucination, compares_with_two_samples_of_a_high_temperature) {
  for (const bool agrees : {true, false}) {
    Acting acting([&](auto&, const test::Asked& asked, int) {
      if (asked.body.contains("answers to one question")) return says(agrees ? "Yes" : "No");
      return says("sample");
    });
    EXPECT_TRUE(is(acting.run("self_check_hallucination", both), !agrees));
    const auto asked = acting.upstream.asked();
    ASSERT_EQ(asked.size(), 3U);
    EXPECT_THAT(asked[0].body, HasSubstr(R"("temperature":1)"));
    EXPECT_THAT(asked[1].body, HasSubstr(R"("temperature":1)"));
    EXPECT_THAT(asked[2].body, AllOf(HasSubstr(R"(sample\n\nsample)"), HasSubstr("what the bot says")));
  }
}

TEST(SelfCheckHallucination, fails_when_one_sample_does_and_answers_once) {
  Acting acting([](auto&, auto&, int number) { return number == 1 ? says("a") : test::json_reply(500, "{}"); });
  EXPECT_TRUE(acting.run("self_check_hallucination", both).failed);
}

TEST(ContentSafety, asks_the_rails_model_and_gives_what_was_violated) {
  Acting acting([](auto&, auto&, int) {
    return says(R"({\"User Safety\": \"unsafe\", \"Response Safety\": \"safe\", \"Safety Categories\": \"S1, S2\"})");
  });
  acting.configuration->models.push_back(
      {.type = "content_safety", .engine = "nim", .model = "guard", .api_key_env = "SAFETY_KEY"});
  acting.configuration->models.back().base_url = acting.upstream.base_url();
  const auto input = acting.run("content_safety_check_input", both, {{"model", text_value("content_safety")}});
  ASSERT_FALSE(input.failed) << input.error;
  EXPECT_FALSE(member(input, "allowed").truth());
  ASSERT_NE(member(input, "policy_violations").list(), nullptr);
  EXPECT_EQ((*member(input, "policy_violations").list())->items.size(), 2U);
  EXPECT_THAT(acting.upstream.asked()[0].body, HasSubstr(R"("model":"guard")"));
  EXPECT_EQ(acting.upstream.asked()[0].authorization, "Bearer sk-safety");
  const auto output = acting.run("content_safety_check_output", both, {{"model", text_value("content_safety")}});
  EXPECT_TRUE(member(output, "allowed").truth());
}

TEST(ContentSafety, fails_without_its_model) {
  Acting acting([](auto&, auto&, int) { return says("safe"); });
  EXPECT_TRUE(acting.run("content_safety_check_input", both).failed);
  const auto unknown = acting.run("topic_safety_check_input", both, {{"model", text_value("nobody")}});
  EXPECT_TRUE(unknown.failed);
  EXPECT_THAT(unknown.error, HasSubstr("nobody"));
  EXPECT_EQ(acting.upstream.count(), 0U);
}

TEST(TopicSafety, and_llama_guard) {
  Acting acting([](auto&, const test::Asked& asked, int) {
    if (asked.body.contains(R"("model":"guard")")) return says("unsafe\\nS3");
    return says("on-topic");
  });
  acting.configuration->models.push_back({.type = "topic", .engine = "nim", .model = "t"});
  acting.configuration->models.push_back({.type = "llama_guard", .engine = "nim", .model = "guard"});
  EXPECT_TRUE(
      member(acting.run("topic_safety_check_input", both, {{"model", text_value("topic")}}), "on_topic").truth());
  const auto guarded = acting.run("llama_guard_check_output", both);
  EXPECT_FALSE(member(guarded, "allowed").truth());
  ASSERT_NE(member(guarded, "policy_violations").list(), nullptr);
  EXPECT_EQ((*member(guarded, "policy_violations").list())->items.size(), 1U);
}

}  // namespace
}  // namespace stackgate::guardrail
