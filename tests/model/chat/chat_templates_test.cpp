#include "services/model/chat/chat_templates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::model {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const SpecialTokens tokens{.texts = {{"bos_token", "<s>"}, {"eos_token", "</s>"}}, .additional = {"<a>"}};

ChatTemplates compiled(std::string_view source, std::string_view with_tools = {}) {
  std::vector<NamedTemplate> templates{{"default", std::string(source)}};
  if (!with_tools.empty()) templates.push_back({"tool_use", std::string(with_tools)});
  auto [out, findings] = ChatTemplates::compile(templates, tokens);
  EXPECT_THAT(findings, IsEmpty());
  return std::move(out);
}

/// The text, or "param: message".
std::string render(const ChatTemplates& templates, std::string_view request) {
  json::Document document;
  const json::Value body = json::parse(request, document).value();
  const auto member = [&](std::string_view key) {
    const json::Value* found = body.find(key);
    return found == nullptr ? json::Value() : *found;
  };
  const auto out = templates.render({.messages = member("messages"),
                                     .tools = member("tools"),
                                     .documents = member("documents"),
                                     .kwargs = member("chat_template_kwargs"),
                                     .add_generation_prompt = json::flag_at(body, "add_generation_prompt", true)});
  return out ? out->text : out.error().param + ": " + out.error().message;
}

constexpr std::string_view plain =
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m['content'] | trim }}{{ eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}";
constexpr std::string_view by_parts =
    "{% for m in messages %}{% if m.content is string %}T:{{ m.content }}{% else %}"
    "{% for p in m.content %}P:{{ p.text }};{% endfor %}{% endif %}{% endfor %}";

TEST(ChatTemplates, write_messages_special_tokens_and_the_prompt) {
  const ChatTemplates templates = compiled(plain);
  EXPECT_EQ(
      render(templates, R"({"messages":[{"role":"system","content":" be brief "},{"role":"user","content":"hi"}]})"),
      "<s>[system]be brief</s>[user]hi</s>[assistant]");
  EXPECT_EQ(render(templates, R"({"messages":[{"role":"user","content":"hi"}],"add_generation_prompt":false})"),
            "<s>[user]hi</s>");
}

TEST(ChatTemplates, never_parse_what_users_write) {
  EXPECT_EQ(render(compiled(plain), R"({"messages":[{"role":"user","content":"{{ bos_token }}{% raw %}"}]})"),
            "<s>[user]{{ bos_token }}{% raw %}</s>[assistant]");
}

TEST(ChatTemplates, join_the_parts_of_a_content_unless_the_template_walks_them) {
  constexpr std::string_view request =
      R"({"messages":[{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}]})";
  EXPECT_EQ(render(compiled(plain), request), "<s>[user]one\ntwo</s>[assistant]");
  EXPECT_EQ(render(compiled(by_parts), request), "P:one;P:two;");
  EXPECT_EQ(render(compiled(by_parts), R"({"messages":[{"role":"user","content":"one"}]})"), "T:one");
}

TEST(ChatTemplates, make_a_text_a_part_for_a_template_that_walks_parts_only) {
  const ChatTemplates templates =
      compiled("{% for m in messages %}{% for p in m.content %}{{ p['text'] }};{% endfor %}{% endfor %}");
  EXPECT_EQ(render(templates, R"({"messages":[{"role":"user","content":"one"}]})"), "one;");
}

TEST(ChatTemplates, print_no_list_as_it_stands) {
  // Printed, joined or dumped, a list of parts would show its braces.
  for (const std::string_view content : {"m.content", "m.content | string", "m.content | tojson", "m.content | join"})
    EXPECT_THAT(render(compiled("{% for m in messages %}{{ " + std::string(content) + " }}{% endfor %}"),
                       R"({"messages":[{"role":"user","content":[{"type":"text","text":"one"}]}]})"),
                testing::Not(HasSubstr("type")))
        << content;
}

TEST(ChatTemplates, read_the_arguments_of_tool_calls) {
  const ChatTemplates templates = compiled(
      "{% for m in messages %}{% for c in m.tool_calls %}{{ c.function.name }}({{ c.function.arguments.city }})"
      "{{ c.function.arguments | tojson }}{% endfor %}{{ m.content }}.{{ tools }}{% endfor %}");
  EXPECT_EQ(render(templates,
                   R"({"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",
                      "function":{"name":"weather","arguments":"{\"z\": 1, \"city\": \"Ulm\"}"}}]}]})"),
            R"(weather(Ulm){"z": 1, "city": "Ulm"}.None)");
  EXPECT_EQ(render(templates,
                   R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"[1"}}]}]})"),
            "messages[0].tool_calls[0].function.arguments: must be the text of a JSON object: write \"{}\" for none");
  EXPECT_EQ(render(compiled("{{ messages[0].tool_calls is defined }}"),
                   R"({"messages":[{"role":"assistant","content":"a","tool_calls":null}]})"),
            "False");
}

TEST(ChatTemplates, tell_whether_calls_have_marks) {
  const std::string tools =
      "{% if tools %}Say <tool_call>{\"name\": \"n\", \"arguments\": {}}</tool_call>{{ tools|tojson }}{% endif %}";
  const std::string calls = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}";
  const std::string end = "{% endfor %}{% endfor %}";
  for (const auto& [text, is] : std::vector<std::pair<std::string, bool>>{
           {tools + calls +
                "<tool_call>\n{\"name\": \"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments|tojson "
                "}}}\n</tool_call>" +
                end,
            true},
           {tools + calls + "<tool_call>{{ c.function|tojson }}</tool_call>" + end, true},
           {tools + calls + "<tool_call>\n<function={{ c.function.name }}></function>\n</tool_call>" + end, false},
           {tools + calls +
                "<tool_call>\n{\"arguments\": {{ c.function.arguments|tojson }}, \"name\": \"{{ c.function.name "
                "}}\"}</tool_call>" +
                end,
            false},
           {tools + calls + "{{ c.function|tojson }}" + end, false},
           {tools + "{% for m in messages %}{{ m.content }}{% endfor %}", false},
           {calls + "<tool_call>{{ c.function|tojson }}</tool_call>" + end, false}}) {
    const std::vector<NamedTemplate> one{{"default", text}};
    EXPECT_EQ(ChatTemplates::compile(one, {}).templates.writes_tagged_calls(), is) << text;
  }
  EXPECT_FALSE(ChatTemplates().writes_tagged_calls());
}

TEST(ChatTemplates, take_the_one_for_tools_when_there_are_tools) {
  const ChatTemplates templates = compiled("plain", "{{ tools | length }} tools");
  EXPECT_EQ(render(templates, R"({"messages":[{"role":"user","content":"a"}],"tools":[{}]})"), "1 tools");
  EXPECT_EQ(render(templates, R"({"messages":[{"role":"user","content":"a"}],"tools":[]})"), "plain");
  EXPECT_EQ(render(templates, R"({"messages":[{"role":"user","content":"a"}]})"), "plain");
}

TEST(ChatTemplates, say_what_is_wrong_with_a_request) {
  struct Case {
    std::string_view source, request, answer;
  };
  constexpr std::string_view good = R"({"messages":[{"role":"user","content":"a"}]})";
  const std::vector<Case> cases{
      {plain, R"({"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function"}]})",
       "tools: this model's chat template knows no tools: leave them out, or use a model that was trained with tools"},
      {"{{ raise_exception('roles must alternate') }}", good, "messages: roles must alternate"},
      {plain, R"({"messages":[]})", "messages: must be a list of at least one message"},
      {plain, R"({})", "messages: must be a list of at least one message"},
      {plain, R"({"messages":["hi"]})", "messages[0]: must be an object with \"role\" and \"content\""},
      {plain, R"({"messages":[{"content":"hi"}]})", "messages[0].role: must be a text: \"user\", for example"},
      {plain, R"({"messages":[{"role":"user","content":7}]})",
       "messages[0].content: must be a text or a list of parts: write a text"},
      {plain, R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]})",
       "messages[0].content[0].type: the part \"image_url\" is not served, this model reads text: write "
       "{\"type\": \"text\", \"text\": …}"},
      {plain, R"({"messages":[{"role":"user","content":[{"type":"text"}]}]})",
       "messages[0].content[0].text: must be a text: write {\"type\": \"text\", \"text\": …}"},
      {plain, R"({"messages":[{"role":"user","content":"a"}],"tools":{}})", "tools: must be a list"},
      {plain, R"({"messages":[{"role":"user","content":"a"}],"chat_template_kwargs":{"messages":[]}})",
       "chat_template_kwargs.messages: stands in the request itself: write it there"},
      {"{{ messages[0].name.first }}", good, "messages: the messages do not fit the model's chat template: line 1"},
      {"{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}", good,
       "messages: the messages need more work than a chat template may do: send fewer or shorter ones: "},
  };
  for (const Case& each : cases)
    EXPECT_THAT(render(compiled(each.source), each.request), testing::StartsWith(std::string(each.answer)))
        << each.request;
}

TEST(ChatTemplates, pass_more_variables_of_the_request) {
  const ChatTemplates templates = compiled(
      "{{ enable_thinking }} {{ bos_token }} {{ documents[0].title }} {{ additional_special_tokens[0] }} {{ tools }}");
  EXPECT_EQ(render(templates, R"({"messages":[{"role":"user","content":"a"}],"documents":[{"title":"t"}],
      "chat_template_kwargs":{"enable_thinking":false,"bos_token":"<b>"}})"),
            "False <b> t <a> None");
}

TEST(ChatTemplates, mark_what_a_trainer_learns_from) {
  const ChatTemplates templates = compiled(
      "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}"
      "{% else %}{{ m.content }}{% endif %}{% endfor %}");
  json::Document document;
  const json::Value messages =
      json::parse(R"([{"role":"user","content":"ask"},{"role":"assistant","content":"tell"}])", document).value();
  const auto out = templates.render(
      {.messages = messages, .tools = {}, .documents = {}, .kwargs = {}, .add_generation_prompt = false});
  ASSERT_TRUE(out);
  ASSERT_THAT(out->generated, SizeIs(1));
  EXPECT_EQ(out->text.substr(out->generated[0].begin, out->generated[0].end - out->generated[0].begin), "tell");
}

TEST(ChatTemplates, that_are_not_there_are_named_with_the_cure) {
  const auto [templates, findings] = ChatTemplates::compile({}, tokens);
  EXPECT_THAT(findings, IsEmpty());
  EXPECT_TRUE(templates.empty());
  EXPECT_THAT(render(templates, R"({"messages":[{"role":"user","content":"a"}]})"), HasSubstr("--chat-template FILE"));
}

TEST(ChatTemplates, that_cannot_be_compiled_are_findings) {
  const std::vector<NamedTemplate> wrong{{"default", "{% if %}"}, {"tool_use", "{{ x | tojsn }}"}};
  const auto [templates, findings] = ChatTemplates::compile(wrong, tokens);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].path, "chat_template[default]");
  EXPECT_THAT(findings[0].problem, HasSubstr("line 1"));
  EXPECT_THAT(findings[1].problem, HasSubstr("did you mean \"tojson\"?"));
  const std::vector<NamedTemplate> unnamed{{"rag", "a"}};
  const auto other = ChatTemplates::compile(unnamed, tokens);
  ASSERT_THAT(other.findings, SizeIs(1));
  EXPECT_THAT(other.findings[0].problem, HasSubstr("\"default\""));
}

TEST(ChatTemplates, know_the_day_only_by_the_clock_that_they_are_given) {
  const std::vector<NamedTemplate> source{{"default", "{{ strftime_now('%Y-%m-%d') }}"}};
  EXPECT_THAT(ChatTemplates::compile(source, tokens).findings, SizeIs(1));
  const auto [templates, findings] = ChatTemplates::compile(
      source, tokens,
      {.clock = [] { return std::chrono::local_seconds(std::chrono::seconds(1'706'692'087)); }, .limits = {}});
  ASSERT_THAT(findings, IsEmpty());
  EXPECT_EQ(render(templates, R"({"messages":[{"role":"user","content":"a"}]})"), "2024-01-31");
}

}  // namespace
}  // namespace stackgate::model
