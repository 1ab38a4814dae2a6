// The answers, text by text, in the shapes of OpenAI's API; tests/e2e/inference/openai-client.sh shows the same texts
// to npm's client.
#include <limits>

#include <gtest/gtest.h>

#include "services/inference/api/chat_answer.hpp"
#include "services/inference/api/completion_answer.hpp"
#include "services/inference/api/other_answers.hpp"

namespace stackgate::inference {
namespace {

constexpr AnswerHead head{.id = "cmpl-1", .created = 1700000000, .model = "base"};
constexpr AnswerHead chat_head{.id = "chatcmpl-1", .created = 1700000000, .model = "a"};

PositionLogProbs position(std::string token, std::string bytes, std::optional<float> log_prob,
                          std::vector<NamedLogProb> top, std::uint64_t offset) {
  return {std::move(token), std::move(bytes), log_prob, std::move(top), offset};
}

TEST(CompletionAnswer, whole) {
  const std::vector<CompletionChoice> choices{
      {.index = 0,
       .text = "a\"b",
       .finish = Finish{FinishReason::stop, "\n"},
       .log_probs = std::vector{position("a", "a", std::nullopt, {}, 0),
                                position("bytes:\\xe2", "\xE2", -0.1F,
                                         {{"x", "x", -0.05F}, {"bytes:\\xe2", "\xE2", -0.1F}}, 1)}},
      {.index = 1, .text = "", .finish = Finish{FinishReason::length, {}}}};
  EXPECT_EQ(
      completion_answer(head, choices, {.prompt_tokens = 2, .completion_tokens = 5}),
      R"({"id":"cmpl-1","object":"text_completion","created":1700000000,"model":"base","choices":[)"
      R"({"index":0,"text":"a\"b","logprobs":{"text_offset":[0,1],"token_logprobs":[null,-0.1],"tokens":["a","bytes:\\xe2"],)"
      R"("top_logprobs":[null,{"x":-0.05,"bytes:\\xe2":-0.1}]},"finish_reason":"stop","stop_reason":"\n"},)"
      R"({"index":1,"text":"","logprobs":null,"finish_reason":"length","stop_reason":null}],)"
      R"("usage":{"prompt_tokens":2,"completion_tokens":5,"total_tokens":7}})");
}

TEST(CompletionAnswer, chunks) {
  EXPECT_EQ(
      completion_chunk(head, std::vector<CompletionChoice>{{.index = 1, .text = "é"}}, {.asked = true}),
      "data: {\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"created\":1700000000,\"model\":\"base\",\"choices\":["
      "{\"index\":1,\"text\":\"é\",\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n");
  EXPECT_EQ(
      completion_chunk(head, {}, {.asked = true, .figures = Usage{.prompt_tokens = 1, .cached_tokens = 1}}),
      "data: "
      "{\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"created\":1700000000,\"model\":\"base\",\"choices\":[],"
      "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":0,\"total_tokens\":1,"
      "\"prompt_tokens_details\":{\"cached_tokens\":1}}}\n\n");
}

TEST(ChatAnswer, whole) {
  const std::vector<ChatChoice> choices{
      {.content = "hi",
       .finish = Finish{FinishReason::stop, TokenId{7}},
       .log_probs = ChatLogProbs{.positions = {position("hi", "hi", -0.5F, {{"hi", "hi", -0.5F}}, 0)}, .top = true}},
      {.index = 1,
       .content = {},
       .tool_calls = {{.id = "call_1", .name = "f", .arguments = "{\"a\":1}"}},
       .finish = Finish{FinishReason::tool_calls, {}}}};
  EXPECT_EQ(
      chat_answer(chat_head, choices, {.prompt_tokens = 3, .completion_tokens = 2}),
      R"({"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"a","choices":[)"
      R"({"index":0,"message":{"role":"assistant","content":"hi","refusal":null},"logprobs":{"content":[)"
      R"({"token":"hi","logprob":-0.5,"bytes":[104,105],"top_logprobs":[{"token":"hi","logprob":-0.5,"bytes":[104,105]}]}],)"
      R"("refusal":null},"finish_reason":"stop","stop_reason":7},)"
      R"({"index":1,"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"call_1","type":"function",)"
      R"("function":{"name":"f","arguments":"{\"a\":1}"}}]},"logprobs":null,"finish_reason":"tool_calls","stop_reason":null}],)"
      R"("usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}})");
}

TEST(ChatAnswer, chunks) {
  const std::string begin =
      R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"a","choices":[)";
  EXPECT_EQ(chat_begin_chunk(chat_head, 2, {}),
            begin + R"({"index":2,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]})"
                    "\n\n");
  EXPECT_EQ(chat_chunk(chat_head, {.content = "x"}, {.asked = true}),
            begin + R"({"index":0,"delta":{"content":"x"},"logprobs":null,"finish_reason":null}],"usage":null})"
                    "\n\n");
  EXPECT_EQ(chat_chunk(chat_head, {.content = {}, .finish = Finish{FinishReason::length, {}}}, {}),
            begin + R"({"index":0,"delta":{},"logprobs":null,"finish_reason":"length","stop_reason":null}]})"
                    "\n\n");
  EXPECT_EQ(
      chat_chunk(chat_head, {.content = {}, .tool_calls = {{.id = "call_1", .name = "f", .arguments = "", .index = 1}}},
                 {}),
      begin +
          R"({"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]},)"
          R"("logprobs":null,"finish_reason":null}]})"
          "\n\n");
  EXPECT_EQ(
      chat_chunk(chat_head,
                 {.content = {}, .tool_calls = {{.id = {}, .name = {}, .arguments = "{", .goes_on = true, .index = 1}}},
                 {}),
      begin +
          R"({"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{"}}]},"logprobs":null,"finish_reason":null}]})"
          "\n\n");
  EXPECT_EQ(chat_usage_chunk(chat_head, {.prompt_tokens = 1, .completion_tokens = 1}),
            begin + R"(],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}})"
                    "\n\n");
  EXPECT_EQ(done_event, "data: [DONE]\n\n");
}

TEST(Answer, log_probs_print_as_the_float_that_they_are) {
  const auto printed = [](float value) {
    std::string out;
    json::Writer w(out);
    write_log_prob(w, value);
    return out;
  };
  EXPECT_EQ(printed(-1.1F), "-1.1");
  EXPECT_EQ(printed(0), "0");
  EXPECT_EQ(printed(-std::numeric_limits<float>::infinity()), "-9999");
  EXPECT_EQ(printed(-1e8F), "-9999");
  EXPECT_EQ(std::stof(printed(-0.123456789F)), -0.123456789F);
}

TEST(OtherAnswers, models) {
  const std::vector<ServedModel> models{{"base", 1, "stackgate", "dir", "", 4096},
                                        {"a", 2, "peft", "http://e/1", "base", 4096}};
  EXPECT_EQ(
      models_answer(models),
      R"({"object":"list","data":[{"id":"base","object":"model","created":1,"owned_by":"stackgate","root":"dir","parent":null,)"
      R"("max_model_len":4096,"permission":[]},{"id":"a","object":"model","created":2,"owned_by":"peft","root":"http://e/1",)"
      R"("parent":"base","max_model_len":4096,"permission":[]}]})");
}

TEST(OtherAnswers, embeddings_and_tokens) {
  const std::vector<std::vector<float>> vectors{{0.5F, -1}, {0.1F, 0}};
  EXPECT_EQ(
      embeddings_answer("m", vectors, false, 4),
      R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-1]},)"
      R"({"object":"embedding","index":1,"embedding":[0.1,0]}],"model":"m","usage":{"prompt_tokens":4,"total_tokens":4}})");
  EXPECT_TRUE(embeddings_answer("m", vectors, true, 4).contains(R"("embedding":"AAAAPwAAgL8=")"));
  EXPECT_EQ(tokenize_answer(std::vector<TokenId>{1, 2}, 10, std::nullopt),
            R"({"count":2,"max_model_len":10,"tokens":[1,2],"token_strs":null})");
  EXPECT_EQ(tokenize_answer(std::vector<TokenId>{1}, 10, std::vector<std::string>{"Ġa"}),
            R"({"count":1,"max_model_len":10,"tokens":[1],"token_strs":["Ġa"]})");
  EXPECT_EQ(detokenize_answer("x\n"), R"({"prompt":"x\n"})");
  EXPECT_EQ(adapter_loaded("x"), "Success: LoRA adapter 'x' added successfully.");
  EXPECT_EQ(adapter_unloaded("x"), "Success: LoRA adapter 'x' removed successfully.");
}

}  // namespace
}  // namespace stackgate::inference
