// Bodies of chats in every form, and all that can be wrong with them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/guardrail/api/request.hpp"
#include "services/kit/jinja/to_json.hpp"
#include "tests/guardrail/api/body_support.hpp"

namespace stackgate::guardrail {
namespace {

using test::faults;

auto chat(std::string_view body) { return test::read_body(read_chat, body); }
auto chat_with(std::string_view members) {
  return chat(
      fmt::format(R"({{"messages":[{{"role":"user","content":"hi"}}]{}{}}})", members.empty() ? "" : ",", members));
}
auto chat_of(std::string_view messages) { return chat(fmt::format(R"({{"messages":{}}})", messages)); }

std::string shown(const Variables& variables) {
  std::string out;
  for (const auto& [name, value] : variables) out += name + "=" + jinja::to_json(value) + ";";
  return out;
}

TEST(GuardrailChat, the_specifications_body) {
  const auto got = chat_with(
      R"("config_id":"default","thread_id":"0123456789abcdef","context":{"user":"Ann"},"stream":true,"state":{},
         "options":{"llm_params":{"temperature":0.5},"output_vars":["a"],"llm_output":true,"log":{"llm_calls":true}},
         "temperature":0.25,"tools":[{"type":"function"}])");
  ASSERT_TRUE(got.has_value()) << faults(got);
  EXPECT_EQ(got->config_ids, std::vector<std::string>{"default"});
  EXPECT_EQ(got->thread_id, "0123456789abcdef");
  EXPECT_EQ(shown(got->context), "user=\"Ann\";");
  EXPECT_TRUE(got->stream && got->has_state && got->older_form);
  EXPECT_EQ(got->options.llm_params, R"({"temperature":0.5})");
  EXPECT_EQ(got->options.output_vars, std::vector<std::string>{"a"});
  EXPECT_TRUE(got->options.llm_output && got->options.log.llm_calls && !got->options.log.activated_rails);
  EXPECT_EQ(got->parameters, R"({"tools":[{"type":"function"}],"temperature":0.5})");
  EXPECT_EQ(got->model, "");
}

TEST(GuardrailChat, llm_params_go_to_the_model_but_for_what_a_body_may_not_ask_for) {
  const auto got = chat_with(
      R"("seed":7,"top_p":0.5,"options":{"llm_params":{"top_p":0.1,"max_tokens":5,"n":3,"stream":true,"audio":{},
         "modalities":["audio"],"messages":[],"model":"x"}})");
  ASSERT_TRUE(got.has_value()) << faults(got);
  EXPECT_EQ(got->parameters, R"({"seed":7,"top_p":0.1,"max_tokens":5})");
  EXPECT_FALSE(got->stream);
}

TEST(GuardrailChat, openais_body_with_guardrails_inside) {
  const auto got = chat_with(
      R"("model":"m","stream":true,"stream_options":{"include_usage":true},"user":"u","seed":7,"n":1,
         "guardrails":{"config_ids":["a","b","a"],"options":{"rails":["input"]},"return_choice":true})");
  ASSERT_TRUE(got.has_value()) << faults(got);
  EXPECT_EQ(got->config_ids, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(got->model, "m");
  EXPECT_TRUE(got->include_usage && got->return_choice && !got->older_form);
  EXPECT_EQ(got->parameters, R"({"user":"u","seed":7})");
  EXPECT_EQ(got->seed, 7U);
  EXPECT_TRUE(got->options.rails.input.on);
  EXPECT_FALSE(got->options.rails.output.on || got->options.rails.dialog.on || got->options.rails.retrieval.on ||
               got->options.tool_calls.on);
}

TEST(GuardrailChat, a_configuration_inline) {
  const auto got = chat_with(R"("guardrails":{"config":{"models":[],"colang_content":"define bot x\n  \"y\""}})");
  ASSERT_TRUE(got.has_value()) << faults(got);
  ASSERT_EQ(got->inline_files.size(), 2U);
  EXPECT_EQ(got->inline_files[0].name + ": " + got->inline_files[0].text, R"(config.yml: {"models":[]})");
  EXPECT_EQ(got->inline_files[0].shown, "guardrails.config");
  EXPECT_EQ(got->inline_files[1].name + ": " + got->inline_files[1].text, "config.co: define bot x\n  \"y\"");
  EXPECT_EQ(chat_with(R"("guardrails":{"config":"models: []"})")->inline_files[0].text, "models: []");
  // At the top it would be OpenAI's, if OpenAI had one.
  EXPECT_TRUE(chat_with(R"("config":{"models":[]})")->inline_files.empty());
}

TEST(GuardrailChat, rails_by_name) {
  const auto got = chat_with(
      R"("options":{"rails":{"input":["self check input"],"output":false,"retrieval":[],"dialog":false,"tool_output":["t"]}})");
  ASSERT_TRUE(got.has_value()) << faults(got);
  const RailSelection& rails = got->options.rails;
  EXPECT_TRUE(rails.input.on);
  EXPECT_EQ(rails.input.only, std::vector<std::string>{"self check input"});
  EXPECT_FALSE(rails.output.on || rails.retrieval.on || rails.dialog.on);
  EXPECT_EQ(got->options.tool_calls.only, std::vector<std::string>{"t"});
  EXPECT_TRUE(got->options.tool_results.on && !got->options.tool_results.only);
}

TEST(GuardrailChat, context_of_messages_comes_over_that_of_the_body) {
  const auto got = chat(R"({"context":{"a":1,"b":[true,{"c":null}]},"messages":[{"role":"context","content":{"a":2}},
      {"role":"user","content":"hi"},{"role":"context","content":{"a":3,"d":"x"}}]})");
  ASSERT_TRUE(got.has_value()) << faults(got);
  EXPECT_EQ(shown(got->context), R"(a=3;b=[true,{"c":null}];d="x";)");
}

struct Refused {
  std::string_view members, why;
};

TEST(GuardrailChat, faults_of_the_guardrails_own_members_are_422) {
  const Refused cases[] = {
      {R"("config_id":"")", "422 config_id: is empty\n"},
      {R"("config_id":"a/b")", "422 config_id: is a path, not an id\n"},
      {R"("config_id":"a\\b")", "422 config_id: is a path, not an id\n"},
      {R"("config_id":"..")", "422 config_id: is a path, not an id\n"},
      {R"("config_id":"a..b")", "422 config_id: is a path, not an id\n"},
      {R"("config_id":".")", "422 config_id: is a path, not an id\n"},
      {R"("config_id":"a\u0000")", "422 config_id: has control characters\n"},
      {R"("config_id":7)", "422 config_id: must be a text\n"},
      {R"("config_ids":[])", "422 config_ids: is empty\n"},
      {R"("config_ids":["a","../b",""])", "422 config_ids[1]: is a path, not an id\n config_ids[2]: is empty\n"},
      {R"("config_ids":"a")", "422 config_ids: must be a list of texts\n"},
      {R"("config_id":"a","config_ids":["b"])", "422 config_ids: is given beside \"config_id\"\n"},
      {R"("config_id":"a","guardrails":{"config_ids":["b"]})",
       "422 guardrails.config_ids: is given beside \"config_id\"\n"},
      {R"("config_id":"a","guardrails":{"config_id":"a"})",
       "422 config_id: is given twice, here and inside of \"guardrails\"\n"},
      {R"("guardrails":[])", "422 guardrails: must be an object\n"},
      {R"("guardrails":{"config_id":"a","config":{}})",
       "422 guardrails.config: is given beside a configuration's id\n"},
      {R"("guardrails":{"config":7})", "422 guardrails.config: must be an object, or YAML as a text\n"},
      {R"("thread_id":"short")", "422 thread_id: has 5 characters\n"},
      {R"("thread_id":"ééééééééééééééé")", "422 thread_id: has 15 characters\n"},
      {R"("thread_id":7)", "422 thread_id: must be a text\n"},
      {R"("context":[])", "422 context: must be an object\n"},
      {R"("state":"x")", "422 state: must be an object\n"},
      {R"("state":{"events":[]})", "422 state: is none that this server gave: it has no \"version\" 1\n"},
      {R"("options":7)", "422 options: must be an object\n"},
      {R"("options":{"rails":{"dialog":["a"]}})", "422 options.rails.dialog: must be true or false\n"},
      {R"("options":{"rails":{"input":[1]}})", "422 options.rails.input: must be a list of texts\n"},
      {R"("options":{"rails":["inputs"]})", "422 options.rails[0]: is no kind of rails\n"},
      {R"("options":{"log":{"llm_calls":"yes"},"llm_params":[],"output_vars":{}})",
       "422 options.llm_params: must be an object\n options.output_vars: must be a list of texts\n "
       "options.log.llm_calls: must be true or false\n"},
  };
  for (const Refused& each : cases) EXPECT_EQ(faults(chat_with(each.members)), each.why) << each.members;
}

TEST(GuardrailChat, faults_of_openais_members_are_400) {
  const Refused cases[] = {
      {R"("n":2)", "400 n: asks for other than one answer\n"},
      {R"("model":7)", "400 model: must be a text\n"},
      {R"("stream":"yes")", "400 stream: must be true or false\n"},
      {R"("stream_options":7)", "400 stream_options: must be an object\n"},
      {R"("modalities":["text","audio"])", "400 modalities: asks for sound, which no rail can check\n"},
      {R"("audio":{"voice":"x"})", "400 audio: asks for sound, which no rail can check\n"},
  };
  for (const Refused& each : cases) EXPECT_EQ(faults(chat_with(each.members)), each.why) << each.members;
  EXPECT_EQ(faults(chat("[]")), "400 : must be an object\n");
  EXPECT_EQ(faults(chat("{}")), "400 messages: is missing\n");
  // Both kinds at once, in one answer.
  EXPECT_EQ(faults(chat(R"({"config_id":"../x","n":3})")),
            "422 config_id: is a path, not an id\n n: asks for other than one answer\n messages: is missing\n");
}

TEST(GuardrailChat, faults_of_messages) {
  const Refused cases[] = {
      {"[]", "400 messages: is missing\n"},
      {"{}", "400 messages: must be a list\n"},
      {R"([7])",
       "400 messages[0]: must be an object with \"content\" and \"role\": system, developer, user, assistant, tool, "
       "context or event\n"},
      {R"([{"role":"user"}])", "400 messages[0].content: is missing\n"},
      {R"([{"role":"assistant","content":null}])", "400 messages[0].content: is missing\n"},
      {R"([{"role":"user","content":7}])", "400 messages[0].content: must be a text, or a list of parts\n"},
      {R"([{"role":"user","content":[{"text":"x"}]}])",
       "400 messages[0].content[0]: must be a part with \"type\": \"text\" and \"text\"\n"},
      {R"([{"role":"user","content":[{"type":"text","text":1}]}])",
       "400 messages[0].content[0]: must be a part with \"text\"\n"},
      {R"([{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}])",
       "400 messages[0].content[0]: is a part that no rail can check\n"},
      {R"([{"role":"user","content":[{"type":"refusal","refusal":"x"}]}])",
       "400 messages[0].content[0]: is a part that no rail can check\n"},
      {R"([{"role":"user","content":[{"type":"file","file":{}},{"type":"input_text","text":"x"}]}])",
       "400 messages[0].content[0]: is a part that no rail can check\n messages[0].content[1]: is a part that no rail "
       "can check\n"},
      {R"([{"role":"assistant","content":"","tool_calls":[{"function":{}}]}])",
       "400 messages[0].tool_calls[0]: must be an object with \"function\": {\"name\", \"arguments\"}\n"},
      {R"([{"role":"assistant","content":"","tool_calls":7}])",
       "400 messages[0].tool_calls: must be a list of at most 128\n"},
      {R"([{"role":"context","content":"x"}])", "400 messages[0].content: must be an object\n"},
      {R"([{"role":"event"}])", "400 messages[0]: must be an object with \"event\": {\"type\"}\n"},
  };
  for (const Refused& each : cases) EXPECT_EQ(faults(chat_of(each.members)), each.why) << each.members;
}

TEST(GuardrailChat, null_reads_as_absent) {
  const auto got = chat_with(
      R"("config_id":null,"config_ids":["a"],"thread_id":null,"context":null,"state":null,"options":null,"guardrails":null,
         "stream":null,"n":null,"model":null)");
  ASSERT_TRUE(got.has_value()) << faults(got);
  EXPECT_EQ(got->config_ids, std::vector<std::string>{"a"});
  EXPECT_TRUE(got->older_form && !got->has_state);
}

TEST(GuardrailChat, values_have_a_depth) {
  const auto nested = [](int depth) {
    return chat_with(fmt::format(R"("context":{{"a":{}1{}}})", std::string(static_cast<std::size_t>(depth), '['),
                                 std::string(static_cast<std::size_t>(depth), ']')));
  };
  EXPECT_TRUE(nested(32).has_value());
  EXPECT_EQ(faults(nested(33)), "422 context.a: is nested more than 32 times\n");
}

TEST(GuardrailCompletion, is_a_chat_of_one_message) {
  const auto read = [](std::string_view body) { return test::read_body(read_completion, body); };
  const auto got = read(R"({"model":"m","prompt":"say \"x\"","max_tokens":5,"guardrails":{"config_id":"a"}})");
  ASSERT_TRUE(got.has_value()) << faults(got);
  EXPECT_EQ(got->messages[0].json, R"({"role":"user","content":"say \"x\""})");
  EXPECT_EQ(got->parameters, R"({"max_tokens":5})");
  EXPECT_EQ(read(R"({"prompt":["one"]})")->messages[0].text, "one");
  EXPECT_EQ(faults(read(R"({"prompt":["one","two"]})")), "400 prompt: must be one text\n");
  EXPECT_EQ(faults(read("{}")), "400 prompt: is missing\n");
}

TEST(GuardrailCheck, rails_by_the_roles_of_messages) {
  const auto rails = [](std::string_view body) {
    const auto got = test::read_body(read_check, body);
    if (!got) return faults(got);
    const RequestOptions& options = got->chat.options;
    EXPECT_FALSE(options.rails.dialog.on || options.rails.retrieval.on);
    return fmt::format("{}{}{}{}", options.rails.input.on ? "input " : "", options.rails.output.on ? "output " : "",
                       options.tool_calls.on ? "calls " : "", options.tool_results.on ? "results " : "");
  };
  const std::string user = R"({"role":"user","content":"q"})", bot = R"({"role":"assistant","content":"a"})";
  const std::string call = R"({"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f"}}]})";
  const std::string result = R"({"role":"tool","tool_call_id":"1","content":"r"})";
  const auto of = [](const std::string& messages, const std::string& more = "") {
    return R"({"messages":[)" + messages + "]" + more + "}";
  };
  EXPECT_EQ(rails(of(user)), "input ");
  EXPECT_EQ(rails(of(user + "," + bot)), "input output ");
  EXPECT_EQ(rails(of(bot)), "output ");
  EXPECT_EQ(rails(of(user + "," + call)), "input output calls ");
  EXPECT_EQ(rails(of(user + "," + call + "," + result)), "input results ");
  EXPECT_EQ(rails(of(user + "," + bot, R"(,"guardrails":{"rail_types":["output"]})")), "output ");
  EXPECT_EQ(rails(of(user, R"(,"guardrails":{"rail_types":["in"]})")),
            "422 guardrails.rail_types[0]: is no kind of rails that can be checked\n");
  EXPECT_EQ(rails(of(R"({"role":"system","content":"s"})")), "400 messages: has nothing to check\n");
  EXPECT_EQ(rails(of(user, R"(,"stream":true)")), "400 stream: is not served for checks\n");
  EXPECT_EQ(rails("[]"), "400 : must be an object\n");
}

}  // namespace
}  // namespace stackgate::guardrail
