#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/guardrail/models/protocol/answer.hpp"
#include "services/guardrail/models/protocol/chunks.hpp"
#include "services/guardrail/models/protocol/request.hpp"

namespace stackgate::guardrail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(EndpointUrl, adds_the_version_only_where_there_is_no_path) {
  const std::vector<std::array<std::string_view, 2>> table = {
      {"http://a:8000", "http://a:8000/v1/models"},
      {"http://a:8000/", "http://a:8000/v1/models"},
      {"http://a/v1", "http://a/v1/models"},
      {"http://a/v1/", "http://a/v1/models"},
      {"https://a/openai/v1/chat/completions", "https://a/openai/v1/models"},
      {"http://a/v1?key=x", "http://a/v1/models"}};
  for (const auto& [base, url] : table) EXPECT_EQ(endpoint_url(base, "models"), url) << base;
  EXPECT_EQ(endpoint_origin("https://user:secret@a:1/v1?k=v"), "https://a:1");
  EXPECT_EQ(endpoint_origin("http://a:1/v1"), "http://a:1");
}

TEST(ShownPrompt, is_all_that_the_model_got) {
  EXPECT_EQ(shown_prompt({.messages = {{"user", "hi"}}}), "hi");
  const std::string sent = R"([{"role":"user","content":"hi"}])";
  EXPECT_EQ(shown_prompt({.messages_json = sent}), sent);
  EXPECT_EQ(shown_prompt({.messages = {{"system", "Be \"kind\"."}}, .messages_json = sent}),
            R"([{"role":"system","content":"Be \"kind\"."},{"role":"user","content":"hi"}])");
  EXPECT_EQ(shown_prompt({.messages = {{"system", "a"}}, .messages_json = "[]"}),
            R"([{"role":"system","content":"a"}])");
}

struct BodyCase {
  std::string_view name;
  ModelEndpoint endpoint;
  ModelRequest request;
  std::string_view body;
};

TEST(WriteModelBody, merges_what_the_call_the_client_and_the_endpoint_say_in_that_order) {
  const std::vector<BodyCase> table = {
      {"plain",
       {.parameters = R"({"temperature":0.5,"base_url":"http://x","top_p":0.9,"api_key":"sk"})"},
       {.messages = {{"user", "hi"}}},
       R"({"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0.5,"top_p":0.9})"},
      {"the client's come first, the guardrail's own stay here",
       {.parameters = R"({"temperature":0.5})"},
       {.messages = {{"system", "be kind"}},
        .messages_json = R"([{"role":"user","content":[{"type":"text","text":"a"}]}])",
        .body = R"({"model":"x","messages":[],"config_id":"c","guardrails":{},"stream":true,"temperature":1,"seed":7,)"
                R"("tools":[{"type":"function"}]})"},
       R"({"model":"m","messages":[{"role":"system","content":"be kind"},{"role":"user","content":[{"type":"text",)"
       R"("text":"a"}]}],"temperature":1,"seed":7,"tools":[{"type":"function"}]})"},
      {"a call's own values come before all",
       {.parameters = R"({"temperature":0.5,"max_tokens":100,"stop":["a"]})"},
       {.messages = {{"user", "q"}}, .temperature = 0.001, .max_tokens = 3, .stop = {"\n"}},
       R"({"model":"m","messages":[{"role":"user","content":"q"}],"temperature":0.001,"max_tokens":3,"stop":["\n"]})"},
      {"the newer name of the limit",
       {.parameters = R"({"max_completion_tokens":100})"},
       {.messages = {{"user", "q"}}, .max_tokens = 3},
       R"({"model":"m","messages":[{"role":"user","content":"q"}],"max_completion_tokens":3})"},
      {"text mode", {.completion = true}, {.messages = {{"user", "q"}}}, R"({"model":"m","prompt":"q"})"},
      {"text mode of a conversation",
       {.completion = true},
       {.messages = {{"system", "s"}}, .messages_json = R"([{"role":"user","content":"q"}])"},
       R"({"model":"m","prompt":"s\nUser: q\nAssistant:"})"}};
  for (const BodyCase& each : table) {
    const auto body = write_model_body(each.endpoint, each.request, "m", false);
    ASSERT_TRUE(body) << each.name << ": " << body.error();
    EXPECT_EQ(*body, each.body) << each.name;
  }
  EXPECT_THAT(*write_model_body({}, {.messages = {{"user", "q"}}}, "m", true), HasSubstr(R"("stream":true)"));
  EXPECT_FALSE(write_model_body({.parameters = "["}, {}, "m", false));
  EXPECT_FALSE(write_model_body({}, {.messages_json = "{}"}, "m", false));
  EXPECT_FALSE(write_model_body({}, {.body = "7"}, "m", false));
}

TEST(ReadAnswer, takes_text_and_tool_calls_and_refuses_the_rest) {
  const auto answer =
      read_answer(R"({"model":"m","choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],)"
                  R"("usage":{"prompt_tokens":3,"completion_tokens":-2}})",
                  false);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "hi");
  EXPECT_EQ(answer->finish_reason, "stop");
  EXPECT_EQ(answer->usage.prompt, 3U);
  EXPECT_EQ(answer->usage.completion, 0U);
  const auto tools = read_answer(R"({"choices":[{"message":{"content":null,"tool_calls":[{"id":"1"}]}}]})", false);
  ASSERT_TRUE(tools);
  EXPECT_TRUE(tools->has_tool_calls);
  EXPECT_THAT(tools->message, HasSubstr(R"("tool_calls":[{"id":"1"}])"));
  EXPECT_EQ(read_answer(R"({"choices":[{"text":"t"}]})", true)->text, "t");
  for (const std::string_view bad :
       {"", "x", "[]", "{}", R"({"choices":[]})", R"({"choices":[7]})", R"({"choices":[{}]})",
        R"({"choices":[{"message":{"content":null}}]})", R"({"choices":[{"message":{"content":7}}]})"})
    EXPECT_FALSE(read_answer(bad, false)) << bad;
  EXPECT_FALSE(read_answer(R"({"choices":[{"message":{"content":"x"}}]})", true));
}

TEST(ReadEmbeddings, wants_one_vector_for_each_text) {
  const auto read = read_embeddings(R"({"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1.5,2]}]})", 2);
  ASSERT_TRUE(read);
  EXPECT_THAT(*read, ElementsAre(ElementsAre(1.5F, 2.F), ElementsAre(3.F, 4.F)));
  for (const std::string_view bad : {"{}", R"({"data":[{"index":0,"embedding":[1]}]})",
                                     R"({"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]})",
                                     R"({"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]})",
                                     R"({"data":[{"index":0,"embedding":[1]},{"index":9,"embedding":[1]}]})",
                                     R"({"data":[{"index":0,"embedding":["a"]},{"index":1,"embedding":[1]}]})",
                                     R"({"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]})"})
    EXPECT_FALSE(read_embeddings(bad, 2)) << bad;
}

TEST(ReadFailure, passes_the_endpoints_words_on_but_no_key_and_logs_no_text) {
  const auto limited = read_failure(
      429, R"({"error":{"message":"slow down, key sk-12345: 'my diary'","type":"rate_limit","code":"too_fast"}})",
      "sk-12345", "http://a");
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.message, "slow down, key ***: 'my diary'");
  EXPECT_EQ(limited.type, "rate_limit");
  EXPECT_EQ(limited.cause, "http://a answered 429 (too_fast)");
  const auto refused =
      read_failure(401, R"({"error":{"message":"Incorrect API key: sk-12***"}})", "sk-12345", "http://a");
  EXPECT_EQ(refused.status, 401);
  EXPECT_THAT(refused.message, Not(HasSubstr("sk-12")));
  EXPECT_EQ(read_failure(400, R"({"detail":"no"})", "", "o").message, "no");
  EXPECT_EQ(read_failure(503, "<html>", "", "o").message, "the model's endpoint answered 503");
  EXPECT_EQ(read_failure(302, "", "", "o").status, 502);
  EXPECT_EQ(read_failure(0, R"({"error":{"message":"x","code":429}})", "", "o").status, 429);
  EXPECT_EQ(read_failure(500, R"({"error":{"code":"text of a user"}})", "", "o").code, "");
  EXPECT_LE(read_failure(500, R"({"message":")" + std::string(9'000, 'a') + "\"}", "", "o").message.size(), 2'010U);
}

TEST(ChunkReader, puts_text_and_tool_calls_together) {
  ChunkReader reader(false);
  ModelDelta delta;
  using Kind = ChunkReader::Kind;
  EXPECT_EQ(reader.take(R"({"model":"m","choices":[{"index":0,"delta":{"content":"a"}}]})", delta), Kind::delta);
  EXPECT_EQ(delta.text, "a");
  EXPECT_FALSE(reader.is_whole());
  EXPECT_EQ(reader.take(R"({"choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"tool_calls":)"
                        R"([{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a"}}]}}]})",
                        delta),
            Kind::delta);
  EXPECT_EQ(delta.text, "");
  EXPECT_EQ(reader.take(R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":1}"}}]},)"
                        R"("finish_reason":"tool_calls"}]})",
                        delta),
            Kind::delta);
  EXPECT_TRUE(reader.is_whole());
  EXPECT_EQ(reader.take(R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}})", delta), Kind::delta);
  EXPECT_EQ(reader.take("[DONE]", delta), Kind::end);
  const ModelAnswer answer = reader.finish();
  EXPECT_EQ(answer.text, "a");
  EXPECT_EQ(answer.model, "m");
  EXPECT_EQ(answer.usage.completion, 6U);
  EXPECT_EQ(answer.message, R"({"role":"assistant","content":"a","tool_calls":[{"id":"c","type":"function","function":)"
                            R"({"name":"f","arguments":"{\"a\":1}"}}]})");
}

TEST(ChunkReader, takes_a_refusal_for_text) {
  ChunkReader reader(false);
  ModelDelta delta;
  EXPECT_EQ(reader.take(R"({"choices":[{"index":0,"delta":{"content":null,"refusal":"I will "}}]})", delta),
            ChunkReader::Kind::delta);
  EXPECT_EQ(delta.text, "I will ");
  (void)reader.take(R"({"choices":[{"index":0,"delta":{"refusal":"not."},"finish_reason":"stop"}]})", delta);
  EXPECT_EQ(reader.finish().text, "I will not.");
}

TEST(ChunkReader, refuses_what_is_no_chunk) {
  for (const std::string_view bad : {"", "x", "[]", "{}", R"({"choices":7})", R"({"error":{"message":"m"}})"}) {
    ChunkReader reader(false);
    ModelDelta delta;
    EXPECT_EQ(reader.take(bad, delta), ChunkReader::Kind::failed) << bad;
    EXPECT_EQ(reader.take(R"({"choices":[]})", delta), ChunkReader::Kind::failed) << "after " << bad;
    EXPECT_EQ(reader.error_body().empty(), !bad.contains("error")) << bad;
  }
}

TEST(ChunkReader, has_limits) {
  ChunkReader reader(true);
  ModelDelta delta;
  const std::string chunk = R"({"choices":[{"text":")" + std::string(1'000'000, 'a') + R"("}]})";
  int taken = 0;
  while (taken < 20 && reader.take(chunk, delta) == ChunkReader::Kind::delta) ++taken;
  EXPECT_EQ(taken, 8);
}

}  // namespace
}  // namespace stackgate::guardrail
