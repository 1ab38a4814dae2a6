#include "services/model/training_lines/line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::model {
namespace {

using testing::HasSubstr;

std::string fault(std::string_view text) {
  json::Document document;
  const auto line = read_training_line(text, document);
  return line ? "" : line.error();
}

TEST(TrainingLines, reads_prompts_and_conversations) {
  json::Document document;
  const auto line = read_training_line(R"({"prompt":"a ","completion":"b","id":7})", document).value();
  EXPECT_EQ(line.kind, TrainingLineKind::completion);
  EXPECT_EQ(line.prompt, "a ");
  EXPECT_EQ(line.completion, "b");
  const auto chat =
      read_training_line(
          R"({"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}],"tools":[{}]})", document)
          .value();
  EXPECT_EQ(chat.kind, TrainingLineKind::chat);
  EXPECT_EQ(chat.messages.items().size(), 2U);
  EXPECT_EQ(chat.tools.items().size(), 1U);
  EXPECT_EQ(fault(R"({"prompt":"","completion":"b"})"), "") << "an empty prompt: a text from its beginning";
}

TEST(TrainingLines, what_is_wrong_with_a_line) {
  const struct {
    std::string_view text, problem;
  } table[] = {
      {R"({"prompt":"a")", "no JSON at byte 13"},
      {R"([])", "must be a JSON object"},
      {R"({"prompt":"a"})", "lacks \"completion\""},
      {R"({"completion":"a"})", "lacks \"prompt\""},
      {R"({"prompt":1,"completion":"a"})", "\"prompt\" must be a text"},
      {R"({"prompt":"a","completion":null})", "\"completion\" must be a text"},
      {R"({"prompt":"a","completion":""})", "is empty"},
      {R"({"text":"a"})", "has neither"},
      {R"({"messages":[],"prompt":"a"})", "has both"},
      {R"({"messages":[]})", "at least one message"},
      {R"({"messages":{"role":"user"}})", "must be a list"},
      {R"({"messages":["x"]})", "messages[0] lacks a \"role\""},
      {R"({"messages":[{"role":"user","content":"x"}]})", "nothing to learn"},
      {R"({"messages":[{"role":"assistant","content":"x"}]})", "nothing to learn"},
      {R"({"messages":[{"role":"user"},{"role":"assistant"}],"tools":{}})", "\"tools\" must be a list"},
      {R"({"prompt":"a","prompt":"a","completion":"b"})", "duplicate key"},
      {"{\"prompt\":\"\xff\",\"completion\":\"b\"}", "no JSON"},
  };
  for (const auto& row : table) EXPECT_THAT(fault(row.text), HasSubstr(row.problem)) << row.text;
}

}  // namespace
}  // namespace stackgate::model
