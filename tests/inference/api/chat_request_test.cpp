#include "services/inference/api/chat_request.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/inference/api/request_support.hpp"

namespace stackgate::inference {
namespace {

auto chat(std::string_view body) {
  return test::read_body([](const json::Value& root) { return read_chat(root, test::limits); }, body);
}
auto chat_with(std::string_view members) {
  return chat(fmt::format(R"({{"model":"m","messages":[{{"role":"user","content":"hi"}}]{}{}}})",
                          members.empty() ? "" : ",", members));
}
auto chat_of(std::string_view messages) { return chat(fmt::format(R"({{"model":"m","messages":{}}})", messages)); }

constexpr std::string_view two_tools =
    R"("tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}},{"type":"function","function":{"name":"g"}}])";

TEST(ChatRequest, messages_are_kept_as_json) {
  const auto got =
      chat_of(R"([ {"role":"system","content":"s","name":"n"}, {"content":[{"type":"text","text":"t"}],"role":"user"},
    {"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},
    {"role":"tool","tool_call_id":"1","content":"r"} ])");
  ASSERT_TRUE(got.has_value()) << test::faults(got);
  EXPECT_EQ(
      got->chat.messages,
      R"([{"role":"system","content":"s","name":"n"},{"content":[{"type":"text","text":"t"}],"role":"user"},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"1","content":"r"}])");
  EXPECT_TRUE(got->chat.add_generation_prompt);
  EXPECT_EQ(got->chat.tools + got->chat.documents + got->chat.arguments, "");
}

TEST(ChatRequest, lengths_and_log_probs) {
  EXPECT_EQ(chat_with("")->generation.max_tokens, std::nullopt);
  EXPECT_EQ(chat_with(R"("max_tokens":5)")->generation.max_tokens, 5U);
  EXPECT_EQ(chat_with(R"("max_tokens":5,"max_completion_tokens":7)")->generation.max_tokens, 7U);
  EXPECT_EQ(chat_with(R"("logprobs":true)")->generation.log_probs, 0U);
  EXPECT_EQ(chat_with(R"("logprobs":true,"top_logprobs":20)")->generation.log_probs, 20U);
  EXPECT_EQ(chat_with(R"("logprobs":false,"top_logprobs":0)")->generation.log_probs, std::nullopt);
}

TEST(ChatRequest, tools) {
  const auto got = chat_with(two_tools);
  ASSERT_TRUE(got.has_value()) << test::faults(got);
  ASSERT_EQ(got->tools.size(), 2U);
  EXPECT_EQ(got->tools[0].parameters, R"({"type":"object"})");
  EXPECT_EQ(got->tools[1].parameters, "");
  EXPECT_EQ(got->tool_choice.kind, ToolChoice::Kind::automatic);
  EXPECT_TRUE(got->chat.tools.starts_with(R"([{"type":"function")"));
  const auto choice = [](std::string_view of) {
    return chat_with(fmt::format("{},\"tool_choice\":{}", two_tools, of));
  };
  EXPECT_EQ(choice(R"("none")")->tool_choice.kind, ToolChoice::Kind::none);
  EXPECT_EQ(choice(R"("required")")->tool_choice.kind, ToolChoice::Kind::required);
  EXPECT_EQ(choice(R"({"type":"function","function":{"name":"g"}})")->tool_choice.name, "g");
  EXPECT_EQ(test::faults(choice(R"({"type":"function","function":{"name":"h"}})")),
            "tool_choice: names \"h\", which is none of \"tools\"\n");
  EXPECT_EQ(chat_with(R"("tools":[],"parallel_tool_calls":true)")->tool_choice.kind, ToolChoice::Kind::none);
}

TEST(ChatRequest, response_format) {
  EXPECT_EQ(chat_with(R"("response_format":{"type":"json_object"})")->generation.format.kind,
            ResponseFormat::Kind::json_object);
  const auto got = chat_with(
      R"("response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object"}}})");
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->generation.format.name, "n");
  EXPECT_EQ(got->generation.format.schema, R"({"type":"object"})");
}

struct WrongChat {
  std::string_view text, faults;
};

TEST(ChatRequest, each_fault_by_its_parameter) {
  for (
      const auto& [members, expected] : std::initializer_list<WrongChat>{
          {R"("top_logprobs":2)", "top_logprobs: is given without \"logprobs\"\n"},
          {R"("logprobs":5)", "logprobs: must be true or false\n"},
          {R"("max_completion_tokens":0)", "max_completion_tokens: must be a whole number from 1 to 1000\n"},
          {R"("min_tokens":3,"max_tokens":2)", "min_tokens: is more than the 2 tokens of the answer\n"},
          {R"("functions":[{}])", "functions: is not served\n"},
          {R"("audio":{"voice":"x"})", "audio: is not served\n"},
          {R"("echo":true)", "echo: is not served for chats\n"},
          {R"("prompt":"x")", "prompt: is not served for chats\n"},
          {R"("modalities":["text","audio"])", "modalities: asks for more than text\n"},
          {R"("modalities":["text"])", ""},
          {R"("stream":true,"stream_options":{"continuous_usage_stats":true})",
           "stream_options.continuous_usage_stats: is not served\n"},
          {R"("stream":true,"stream_options":{"continuous_usage_stats":false})", ""},
          {R"("chat_template":"{{x}}")", "chat_template: is not taken from a request\n"},
          {R"("continue_final_message":true)", "continue_final_message: is not served\n"},
          {R"("tools":{})", ""},
          {R"("tools":{"a":1})", "tools: must be a list\n"},
          {R"("tools":[{"type":"x"}])", "tools[0]: must be an object with \"type\": \"function\" and \"function\"\n"},
          {R"("tools":[{"type":"function","function":{"name":"a b"}}])",
           "tools[0]: must be a tool with \"function\": {\"name\"} of at most 64 letters, digits, \"_\" and \"-\"\n"},
          {R"("tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}}])",
           "tools[1]: is named \"a\" as another one\n"},
          {R"("tool_choice":"required")", "tool_choice: asks for a tool, and there is none\n"},
          {R"("tool_choice":"maybe")",
           "tool_choice: must be \"none\", \"auto\", \"required\" or {\"type\": \"function\", \"function\": "
           "{\"name\"}}\n"},
          {R"("response_format":{"type":"json_object"},"tool_choice":"required","tools":[{"type":"function","function":{"name":"a"}}])",
           "response_format: cannot hold while \"tool_choice\" asks for a tool\n"},
      })
    EXPECT_EQ(test::faults(chat_with(members)), expected) << members;
}

TEST(ChatRequest, messages_that_are_none) {
  EXPECT_EQ(test::faults(chat(R"({"model":"m"})")), "messages: is missing\n");
  for (const auto& [messages, expected] : std::initializer_list<WrongChat>{
           {"[]", "messages: is empty\n"},
           {R"("hi")", "messages: must be a list\n"},
           {R"([1,{"content":"x"}])",
            "messages[0]: must be an object with \"role\" and \"content\"\n"
            "messages[1]: must be an object with \"role\" and \"content\"\n"},
           {R"([{"role":"user"}])", "messages[0].content: is missing\n"},
           {R"([{"role":"user","content":5}])", "messages[0].content: must be a text, or a list of parts\n"},
           {R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}}]}])",
            "messages[0].content[1]: is a part of type \"image_url\"\n"},
           {R"([{"role":"user","content":[{"type":"text"}, "x"]}])",
            "messages[0].content[0]: must be a part with \"text\"\n"
            "messages[0].content[1]: must be a part with \"type\": \"text\" and \"text\"\n"},
           {R"([{"role":"assistant","tool_calls":[{}]}])",
            "messages[0].tool_calls[0]: must be an object with \"function\": {\"name\", \"arguments\"}\n"},
       })
    EXPECT_EQ(test::faults(chat_of(messages)), expected) << messages;
}

}  // namespace
}  // namespace stackgate::inference
