// What a conversation is made of, and what of it goes to the main model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/guardrail/api/request.hpp"
#include "tests/guardrail/api/body_support.hpp"

namespace stackgate::guardrail {
namespace {

std::vector<ChatMessage> conversation(std::string_view messages) {
  const auto got = test::read_body(read_chat, fmt::format(R"({{"messages":{}}})", messages));
  EXPECT_TRUE(got.has_value()) << test::faults(got);
  return got ? got->messages : std::vector<ChatMessage>();
}

std::string history(const TurnParts& parts) {
  std::string out;
  for (const Message& each : parts.history) out += each.role + ":" + each.content + " ";
  return out;
}

TEST(GuardrailTurn, parts_of_a_conversation) {
  const TurnParts got = turn_parts(conversation(
      R"([{"role":"system","content":"s"},{"role":"developer","content":"d"},{"role":"user","content":"q1"},
          {"role":"assistant","content":"a1"},{"role":"exception","content":{"type":"X"}},
          {"role":"event","event":{"type":"E","k":1}},{"role":"user","content":"q2"}])"));
  EXPECT_EQ(history(got), "system:s system:d user:q1 assistant:a1 ");
  EXPECT_EQ(got.user_message, "q2");
  EXPECT_EQ(got.bot_message, std::nullopt);
  ASSERT_EQ(got.events.size(), 1U);
  EXPECT_EQ(got.events[0].type, "E");
  EXPECT_TRUE(got.events[0].values.contains("k") && !got.events[0].values.contains("type"));
}

TEST(GuardrailTurn, an_answer_to_check) {
  const TurnParts got = turn_parts(conversation(
      R"([{"role":"user","content":"q"},{"role":"assistant","content":"a","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"x\":1}"}}]},
          {"role":"context","content":{}}])"));
  EXPECT_EQ(got.bot_message, "a");
  ASSERT_EQ(got.tool_calls.size(), 1U);
  EXPECT_EQ(got.tool_calls[0].name + got.tool_calls[0].arguments + got.tool_calls[0].id, R"(f{"x":1}1)");
}

TEST(GuardrailTurn, tools_in_between) {
  const TurnParts got = turn_parts(conversation(
      R"([{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]},
          {"role":"tool","tool_call_id":"1","content":"r"}])"));
  EXPECT_EQ(got.user_message, "q");
  EXPECT_EQ(got.bot_message, std::nullopt);
  EXPECT_TRUE(got.tool_calls.empty() && got.history.empty());
  ASSERT_EQ(got.tool_results.size(), 1U);
  EXPECT_EQ(got.tool_results[0].text + got.tool_results[0].tool_call_id, "r1");
}

// Results in front of the user's last message were checked when they came.
TEST(GuardrailTurn, tools_of_earlier_turns) {
  const TurnParts got = turn_parts(conversation(
      R"([{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]},
          {"role":"tool","tool_call_id":"1","content":"old"},{"role":"user","content":"and now?"}])"));
  EXPECT_EQ(got.user_message, "and now?");
  EXPECT_TRUE(got.tool_results.empty());
}

TEST(GuardrailUpstream, messages_go_as_they_came) {
  const std::string own =
      R"({"role":"system","content":"s","name":"n"},{"role":"user","content":"q","x":{"y":[1.5]}},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"1","content":"r"})";
  const auto messages = conversation(
      "[" + own +
      R"(,{"role":"context","content":{"a":1}},{"role":"event","event":{"type":"E"}},{"role":"exception"}])");
  EXPECT_EQ(upstream_messages({}, messages, "q"), "[" + own + "]");
  const std::vector<Message> first{{.role = "system", .content = "in\"structions"}};
  EXPECT_EQ(upstream_messages(first, messages, "q"), R"([{"role":"system","content":"in\"structions"},)" + own + "]");
}

TEST(GuardrailUpstream, the_users_message_as_the_rails_left_it) {
  const auto altered = [](std::string_view messages) { return upstream_messages({}, conversation(messages), "<NEW>"); };
  EXPECT_EQ(altered(R"([{"role":"user","content":"1"},{"role":"user","content":"2","name":"n"}])"),
            R"([{"role":"user","content":"1"},{"role":"user","content":"<NEW>","name":"n"}])");
  const std::string image = R"({"type":"image_url","image_url":{"url":"data:x"}})";
  EXPECT_EQ(
      altered(R"([{"role":"user","content":[)" + image + R"(,{"type":"text","text":"a"},{"type":"text","text":"b"},)" +
              image + R"(,{"type":"text","text":"c"}]}])"),
      R"([{"role":"user","content":[)" + image + R"(,{"type":"text","text":"<NEW>"},)" + image + "]}]");
  EXPECT_EQ(altered(R"([{"role":"user","content":[)" + image + "]}]"),
            R"([{"role":"user","content":[)" + image + R"(,{"type":"text","text":"<NEW>"}]}])");
}

// What a model sees as one word must be one text to the rails: they check "for\nbidden", and so does the model.
TEST(GuardrailUpstream, parts_are_joined_as_they_were_checked) {
  const auto messages =
      conversation(R"([{"role":"user","content":[{"type":"text","text":"for"},{"type":"text","text":"bidden"}]}])");
  EXPECT_EQ(messages[0].text, "for\nbidden");
  EXPECT_EQ(upstream_messages({}, messages, messages[0].text),
            R"([{"role":"user","content":[{"type":"text","text":"for\nbidden"}]}])");
}

}  // namespace
}  // namespace stackgate::guardrail
