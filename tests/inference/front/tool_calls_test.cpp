#include "services/inference/front/tool_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/inference/constrain/schema_compiler.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::inference {
namespace {

using Kind = ToolChoice::Kind;

const std::vector<Tool> tools{{"weather", R"({"type":"object","properties":{"city":{"type":"string"}}})"}, {"now", ""}};

std::string shown(const std::vector<FoundCall>& calls) {
  std::string out;
  for (const FoundCall& each : calls) out += each.name + each.arguments + ";";
  return out;
}

struct Row {
  const char* name;
  const char* text;
  const char* said;
  const char* calls;
};

class ToolCalls : public ::testing::TestWithParam<Row> {};

TEST_P(ToolCalls, are_found_however_the_text_is_cut) {
  const Row& row = GetParam();
  for (const std::size_t piece : {1U, 2U, 5U, 1000U}) {
    ToolCallFinder finder({Kind::automatic}, tools);
    std::string said;
    const std::string_view text = row.text;
    for (std::size_t at = 0; at < text.size(); at += piece) said += finder.push(text.substr(at, piece));
    ToolCallFinder::End end = finder.finish();
    EXPECT_EQ(said + end.text, row.said) << piece;
    EXPECT_EQ(shown(end.calls), row.calls) << piece;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ToolCalls,
    ::testing::Values(
        Row{"nothing", "", "", ""}, Row{"a_text", "It is <b>sunny</b>.", "It is <b>sunny</b>.", ""},
        Row{"hermes", "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>", "",
            "weather{\"city\":\"Rome\"};"},
        Row{"hermes_twice_behind_a_text",
            "Let me look.\n<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>\n"
            "<tool_call>{\"name\":\"weather\",\"arguments\":{\"city\":\"é\"}}</tool_call>",
            "Let me look.\n", "now{};weather{\"city\":\"é\"};"},
        Row{"llama", "{\"name\": \"weather\", \"parameters\": {\"city\": \"Rome\"}}", "",
            "weather{\"city\":\"Rome\"};"},
        Row{"mistral", " [{\"name\":\"now\"},{\"name\":\"now\",\"arguments\":\"{}\"}]", "", "now{};now{};"},
        Row{"json_that_is_no_call", "{\"name\": \"other\", \"arguments\": {}}",
            "{\"name\": \"other\", \"arguments\": {}}", ""},
        Row{"an_unfinished_call", "<tool_call>{\"name\":\"now\"", "<tool_call>{\"name\":\"now\"", ""},
        Row{"what_only_begins_like_a_call", "a <tool_box> <tool_call", "a <tool_box> <tool_call", ""},
        Row{"a_call_with_words_behind_it", "{\"name\":\"now\"} yes", "{\"name\":\"now\"} yes", ""}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(ToolCallFinder, finds_none_when_none_are_wanted) {
  ToolCallFinder finder({Kind::none}, tools);
  EXPECT_EQ(finder.push("{\"name\":\"now\"}"), "{\"name\":\"now\"}");
  EXPECT_TRUE(finder.finish().calls.empty());
}

TEST(ForcedCallSchema, compiles_for_one_and_for_any) {
  for (const ToolChoice& choice : {ToolChoice{Kind::named, "weather"}, ToolChoice{Kind::required}}) {
    const std::string schema = forced_call_schema(choice, tools);
    json::Document document;
    const auto root = json::parse(schema, document);
    ASSERT_TRUE(root) << schema;
    EXPECT_TRUE(compile_schema(*root, "tools")) << schema;
  }
}

}  // namespace
}  // namespace stackgate::inference
