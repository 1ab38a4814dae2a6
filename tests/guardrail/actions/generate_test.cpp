#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/guardrail/actions/conversation.hpp"
#include "tests/guardrail/actions/acting.hpp"

namespace stackgate::guardrail {
namespace {

using test::Acting;
using test::says;
using test::text_value;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using web::test::soon;

TEST(Generate, puts_the_instructions_before_the_clients_conversation_and_keeps_its_parameters) {
  Acting acting([](auto&, auto&, int) { return says("hi"); });
  acting.environment->messages = [](std::string_view user_message) {
    return R"([{"role":"system","content":"Speak French."},{"role":"user","content":")" + std::string(user_message) +
           R"("}])";
  };
  acting.environment->body = R"({"model":"x","messages":[],"temperature":0.3,"tools":[{"type":"function"}],)"
                             R"("tool_choice":"auto","guardrails":{"config_id":"c"}})";
  const auto result = acting.run("generate", {{"user_message", text_value("hello")}});
  EXPECT_FALSE(result.failed);
  EXPECT_EQ(result.id, 7U);
  EXPECT_EQ(result.value.bytes(), "hi");
  EXPECT_EQ(acting.upstream.asked()[0].body,
            R"({"model":"m","messages":[{"role":"system","content":"Be kind."},{"role":"system","content":)"
            R"("Speak French."},{"role":"user","content":"hello"}],"temperature":0.3,"tools":[{"type":"function"}],)"
            R"("tool_choice":"auto"})");
  EXPECT_EQ(acting.upstream.asked()[0].authorization, "Bearer sk-server");
  ASSERT_EQ(result.model_calls.size(), 1U);
  EXPECT_EQ(result.model_calls[0].task, "general");
  EXPECT_EQ(result.model_calls[0].completion, "hi");
  EXPECT_EQ(result.model_calls[0].prompt_tokens, 3U);
  EXPECT_GE(result.model_calls[0].ended, result.model_calls[0].began);
}

TEST(Generate, passthrough_adds_nothing_and_knowledge_is_information) {
  Acting acting([](auto&, auto&, int) { return says("hi"); });
  SharedVariables context;
  context.set("user_message", text_value("q"));
  context.set("relevant_chunks", text_value("Prices: 3"));
  acting.environment->history = {{"user", "a"}, {"assistant", "b"}};
  acting.environment->configuration = acting.configuration;
  Conversation plain = plain_conversation(*acting.environment, context);
  ASSERT_EQ(plain.before.size(), 2U);
  EXPECT_THAT(plain.before[1].content, HasSubstr("Prices: 3"));
  EXPECT_EQ(plain.messages,
            R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"q"}])");
  acting.configuration->passthrough = true;
  EXPECT_TRUE(plain_conversation(*acting.environment, context).before.empty());
}

TEST(Generate, keeps_tool_calls) {
  Acting acting([](auto&, auto&, int) {
    return test::json_reply(200,
                            R"({"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[)"
                            R"({"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]})");
  });
  const auto result = acting.run("generate", {{"user_message", text_value("q")}});
  ASSERT_FALSE(result.failed) << result.error;
  EXPECT_EQ(result.value.bytes(), "");
  EXPECT_EQ(result.context_updates.at("generated_tool_calls").bytes(), "f({\"a\":1})\n");
  EXPECT_THAT(std::string(result.context_updates.at("generated_message").bytes()), HasSubstr(R"("id":"1")"));
}

TEST(Generate, a_failure_is_told_in_the_endpoints_words_and_logged_without_them) {
  Acting acting([](auto&, auto&, int) -> web::Answer {
    http::Response limited = test::json_reply(429, R"({"error":{"message":"your diary is long"}})");
    limited.headers.emplace_back("Retry-After", "9");
    return limited;
  });
  std::optional<ModelFailure> told;
  acting.environment->main_model_failed = [&](const ModelFailure& failure) { told = failure; };
  const auto result = acting.run("generate", {{"user_message", text_value("my diary")}});
  EXPECT_TRUE(result.failed);
  EXPECT_THAT(result.error, HasSubstr("answered 429"));
  EXPECT_THAT(result.error, Not(HasSubstr("diary")));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->status, 429);
  EXPECT_EQ(told->message, "your diary is long");
  EXPECT_EQ(told->retry_after, std::chrono::seconds(9));
}

TEST(Generate, the_servers_key_goes_to_the_servers_endpoint_alone) {
  Acting acting([](auto&, auto&, int) { return says("hi"); });
  acting.configuration->models[0].base_url = acting.upstream.base_url();
  ASSERT_FALSE(acting.run("generate", {{"user_message", text_value("q")}}).failed);
  EXPECT_EQ(acting.upstream.asked()[0].authorization, "");
  acting.configuration->models[0].api_key_env = "SAFETY_KEY";
  ASSERT_FALSE(acting.run("generate", {{"user_message", text_value("q")}}).failed);
  EXPECT_EQ(acting.upstream.asked()[1].authorization, "Bearer sk-safety");
}

TEST(Generate, takes_the_requests_model_where_the_configuration_names_none) {
  Acting acting([](auto&, auto&, int) { return says("hi"); });
  acting.configuration->models.clear();
  acting.environment->model = "of the request";
  ASSERT_FALSE(acting.run("generate", {{"user_message", text_value("q")}}).failed);
  EXPECT_THAT(acting.upstream.asked()[0].body, HasSubstr(R"("model":"of the request")"));
}

class Kept final : public AnswerStream {
 public:
  void begins(ModelCallHandle) override { ++begun; }
  bool take(const ModelDelta& delta) override {
    text += delta.text;
    return true;
  }
  std::string text;
  int begun = 0;
};

TEST(Generate, streams_to_who_wants_it) {
  Acting acting(
      [](auto&, auto&, int) { return test::event_stream(test::chunk("a") + test::chunk("b") + "data: [DONE]\n\n"); });
  const auto stream = std::make_shared<Kept>();
  acting.environment->stream = stream;
  const auto result = acting.run("generate", {{"user_message", text_value("q")}});
  ASSERT_FALSE(result.failed) << result.error;
  EXPECT_EQ(result.value.bytes(), "ab");
  EXPECT_EQ(stream->text, "ab");
  EXPECT_EQ(stream->begun, 1);
}

class Custom final : public CustomActions {
 public:
  bool knows(std::string_view action) const override { return action == "mine" || action == "self_check_input"; }
  void run(ActionRequest request, std::shared_ptr<const ActionEnvironment>, OnActionResult then) override {
    if (request.parameters.contains("fails")) return then({.failed = true, .error = "ValueError"});
    then({.value = jinja::Value(request.action), .context_updates = {{"x", jinja::Value("y")}}});
  }
};

TEST(Actions, of_the_configuration_come_first_and_unknown_ones_fail) {
  Acting acting([](auto&, auto&, int) { return says("hi"); });
  EXPECT_TRUE(acting.run("mine").failed);
  EXPECT_THAT(acting.run("mine").error, HasSubstr("no action of this name"));
  acting.environment->custom = std::make_shared<Custom>();
  const auto result = acting.run("mine");
  EXPECT_EQ(result.value.bytes(), "mine");
  EXPECT_EQ(result.id, 7U);
  EXPECT_EQ(result.context_updates.at("x").bytes(), "y");
  EXPECT_EQ(acting.run("self_check_input").value.bytes(), "self_check_input");
  const auto failed = acting.run("mine", {}, {{"fails", jinja::Value(true)}});
  EXPECT_TRUE(failed.failed);
  EXPECT_EQ(failed.error, "ValueError");
  EXPECT_THAT(Actions::names(), Contains("generate"));
}

TEST(Actions, cancelled_ends_the_call_and_tells_nobody) {
  std::mutex mutex;
  std::vector<std::shared_ptr<web::Deferred>> held;
  std::atomic<bool> closed{false};
  Acting acting([&](web::Call& call, auto&, int) -> web::Answer {
    const std::lock_guard lock(mutex);
    held.push_back(*call.defer());
    held.back()->on_closed([&] { closed = true; });
    return web::Later{};
  });
  acting.environment->configuration = acting.configuration;
  const auto token = std::make_shared<int>(0);
  auto handle = acting.actions.run({.action = "generate", .context = std::make_shared<const Variables>()},
                                   acting.environment, [token](const auto&) { FAIL() << "called"; });
  ASSERT_TRUE(soon([&] { return acting.upstream.count() == 1; }));
  handle.cancel();
  EXPECT_TRUE(soon([&] { return closed && token.use_count() == 1; }));
  const std::lock_guard lock(mutex);
  held.clear();
}

}  // namespace
}  // namespace stackgate::guardrail
