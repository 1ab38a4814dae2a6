// The answers, text by text.
#include <gtest/gtest.h>

#include "services/guardrail/api/answer.hpp"
#include "services/guardrail/api/check_answer.hpp"
#include "services/guardrail/api/failures.hpp"
#include "services/guardrail/api/log.hpp"
#include "services/kit/web/errors.hpp"

namespace stackgate::guardrail {
namespace {

using std::chrono::milliseconds;

const std::vector<std::string> ids{"a"};
constexpr AnswerHead head{.id = "chatcmpl-1", .created = 1700000000, .model = "m"};

TEST(GuardrailAnswer, openais_object_and_older_clients_messages) {
  ChatAnswer answer{.head = head, .text = "hi\"", .usage = Usage{2, 3}, .guardrails = {.config_ids = ids}};
  EXPECT_EQ(
      chat_answer(answer),
      R"({"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m","choices":[)"
      R"({"index":0,"message":{"role":"assistant","content":"hi\"","refusal":null},"logprobs":null,"finish_reason":"stop"}],)"
      R"("messages":[{"role":"assistant","content":"hi\""}],)"
      R"("usage":{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5},)"
      R"("guardrails":{"config_id":"a","config_ids":["a"],"status":"passed"}})");
}

TEST(GuardrailAnswer, what_options_asked_for_is_at_the_top_too_for_older_clients) {
  ChatAnswer answer{.head = head, .text = "no", .older_form = true};
  answer.guardrails = {
      .outcome = Outcome::blocked, .rail = "self check input", .state = R"({"s":1})", .log = R"({"l":1})"};
  const std::string got = chat_answer(answer);
  EXPECT_TRUE(got.ends_with(
      R"("guardrails":{"config_id":null,"config_ids":[],"status":"blocked","rail":"self check input","state":{"s":1},"log":{"l":1}},"state":{"s":1},"log":{"l":1}})"))
      << got;
}

TEST(GuardrailAnswer, tool_calls_and_exceptions) {
  ChatAnswer answer{.head = head, .tool_calls = R"([{"id":"1"}])", .finish_reason = "tool_calls"};
  EXPECT_NE(chat_answer(answer).find(
                R"("message":{"role":"assistant","content":null,"tool_calls":[{"id":"1"}],"refusal":null})"),
            std::string::npos);
  const Event exception{.type = "InputRailException", .values = {{"message", jinja::Value("no")}}};
  answer.exception = &exception;
  const std::string got = chat_answer(answer);
  EXPECT_NE(got.find(R"("messages":[{"role":"exception","content":{"type":"InputRailException","message":"no"}}])"),
            std::string::npos)
      << got;
  EXPECT_NE(got.find(R"("content":"{\"type\":\"InputRailException\",\"message\":\"no\"}")"), std::string::npos) << got;
  EXPECT_EQ(got.find("tool_calls\":["), std::string::npos);
}

TEST(GuardrailAnswer, the_microservices_data_as_a_choice_and_completions) {
  ChatAnswer answer{.head = head, .text = "x", .guardrails = {.config_ids = ids}, .return_choice = true};
  EXPECT_NE(
      chat_answer(answer).find(
          R"({"index":1,"message":{"role":"guardrails_data","content":"{\"config_id\":\"a\",\"config_ids\":[\"a\"],\"status\":\"passed\"}"},)"),
      std::string::npos);
  EXPECT_EQ(
      completion_answer(answer),
      R"({"id":"chatcmpl-1","object":"text_completion","created":1700000000,"model":"m","choices":[{"index":0,)"
      R"("text":"x","logprobs":null,"finish_reason":"stop"}],"guardrails":{"config_id":"a","config_ids":["a"],"status":"passed"}})");
}

TEST(GuardrailChunks, of_one_stream) {
  const std::string begin =
      R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[)";
  EXPECT_EQ(begin_chunk(head, false),
            begin + R"({"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]})"
                    "\n\n");
  EXPECT_EQ(text_chunk(head, "a\n", true),
            begin + R"({"index":0,"delta":{"content":"a\n"},"logprobs":null,"finish_reason":null}],"usage":null})"
                    "\n\n");
  EXPECT_EQ(tool_calls_chunk(head, R"([{"id":"a","function":{"name":"f"}},{"index":7,"id":"b"}])", false),
            begin + R"({"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}},)"
                    R"({"index":1,"id":"b"}]},"logprobs":null,"finish_reason":null}]})"
                    "\n\n")
      << "clients put calls together by their index";
  EXPECT_EQ(finish_chunk(head, "stop", nullptr, false),
            begin + R"({"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]})"
                    "\n\n");
  const GuardrailsData data{.config_ids = ids, .log = "{}"};
  EXPECT_TRUE(finish_chunk(head, "stop", &data, false)
                  .ends_with(R"("guardrails":{"config_id":"a","config_ids":["a"],"status":"passed","log":{}}})"
                             "\n\n"));
  EXPECT_EQ(usage_chunk(head, {1, 2}), begin +
                                           R"(],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}})"
                                           "\n\n");
}

TEST(GuardrailChunks, a_violation_is_what_openais_clients_throw) {
  EXPECT_EQ(violation_event("self check output"),
            R"(data: {"error":{"message":"Blocked by self check output rails.","type":"guardrails_violation",)"
            R"("param":"self check output","code":"content_blocked"}})"
            "\n\n");
  EXPECT_TRUE(exception_event({.type = "OutputRailException"}, "r")
                  .ends_with(R"("code":"content_blocked","exception":{"type":"OutputRailException"}}})"
                             "\n\n"));
  EXPECT_EQ(error_event(failed_turn()),
            R"(data: {"error":{"message":"Internal server error.","type":"server_error","param":null,"code":500}})"
            "\n\n");
}

TurnResult blocked_turn() {
  ExecutedAction action{.name = "self_check_input", .parameters = {{"model", jinja::Value("m")}}};
  action.value = jinja::Value(false);
  action.model_calls.push_back({.task = "self_check_input",
                                .model = "m",
                                .prompt = "p",
                                .completion = "yes",
                                .began = milliseconds(250),
                                .ended = milliseconds(750),
                                .prompt_tokens = 5,
                                .completion_tokens = 1});
  action.ended = milliseconds(1000);
  ActivatedRail rail{.type = RailType::input, .name = "self check input", .decisions = {"execute self_check_input"}};
  rail.actions.push_back(action);
  rail.stop = true;
  rail.ended = milliseconds(1000);
  TurnResult out{.outcome = Outcome::blocked, .rail = "self check input", .text = "no"};
  out.rails.push_back(rail);
  out.events.push_back({.type = "StartInputRail", .values = {{"flow_id", jinja::Value("f")}}});
  out.colang_history = "user \"x\"";
  out.variables.set("b", jinja::Value("x"));
  out.variables.set("a", jinja::Value(std::int64_t{1}));
  return out;
}

TEST(GuardrailLog, is_in_seconds_and_in_the_anchors_names) {
  const TurnResult turn = blocked_turn();
  const TurnTimes times{.unix_at_zero = 1000, .began = {}, .ended = milliseconds(1500)};
  EXPECT_EQ(log_json(turn, {}, times), "");
  const std::string stats =
      R"("stats":{"input_rails_duration":1,"dialog_rails_duration":null,"generation_rails_duration":null,)"
      R"("retrieval_rails_duration":null,"output_rails_duration":null,"total_duration":1.5,"llm_calls_duration":0.5,)"
      R"("llm_calls_count":1,"llm_calls_total_prompt_tokens":5,"llm_calls_total_completion_tokens":1,"llm_calls_total_tokens":6})";
  const std::string call =
      R"({"task":"self_check_input","llm_model_name":"m","prompt":"p","completion":"yes","prompt_tokens":5,)"
      R"("completion_tokens":1,"total_tokens":6,"from_cache":false,"started_at":1000.25,"finished_at":1000.75,"duration":0.5})";
  EXPECT_EQ(
      log_json(turn, {.activated_rails = true}, times),
      R"({"activated_rails":[{"type":"input","name":"self check input","decisions":["execute self_check_input"],)"
      R"("executed_actions":[{"action_name":"self_check_input","action_params":{"model":"m"},"return_value":false,)"
      R"("llm_calls":[)" +
          call +
          R"(],"started_at":1000,"finished_at":1001,"duration":1}],"stop":true,)"
          R"("additional_info":null,"started_at":1000,"finished_at":1001,"duration":1}],)" +
          stats + R"(,"llm_calls":null,"internal_events":null,"colang_history":null})");
  EXPECT_EQ(log_json(turn, {.llm_calls = true, .internal_events = true, .colang_history = true}, times),
            R"({"activated_rails":[],)" + stats + R"(,"llm_calls":[)" + call +
                R"(],"internal_events":[{"type":"StartInputRail","flow_id":"f"}],"colang_history":"user \"x\""})");
}

TEST(GuardrailLog, output_variables) {
  TurnResult turn = blocked_turn();
  turn.variables.set("config", jinja::Value("what is the server's"));
  EXPECT_EQ(output_data_json(turn, {}), "");
  EXPECT_EQ(output_data_json(turn, {.all_output_vars = true}), R"({"a":1,"b":"x"})");
  EXPECT_EQ(output_data_json(turn, {.output_vars = {"b", "none", "config"}}), R"({"b":"x","none":null,"config":null})");
}

/// An answer that an output rail refused, wherever a log has it.
TurnResult hiding_turn() {
  const auto dict = std::make_shared<jinja::Dict>();
  dict->set(jinja::Value("found"), jinja::Value(std::make_shared<const jinja::List>(
                                       std::vector{jinja::Value("a secret word"), jinja::Value(std::int64_t{7})})));
  TurnResult out{.outcome = Outcome::blocked, .rail = "r", .hidden = {"secret word", "secret"}, .hides_answer = true};
  out.rails = {
      {.type = RailType::generation,
       .name = "generate",
       .actions = {{.name = "generate",
                    .value = jinja::Value("the secret word"),
                    .model_calls = {{.task = "general", .model = "m", .prompt = "q", .completion = "s\\u0065cret"}}}}},
      {.type = RailType::output,
       .name = "r",
       .actions = {
           {.name = "judge",
            .parameters = {{"text", jinja::Value("the secret word")}},
            .value = jinja::Value(jinja::DictPtr(dict)),
            .model_calls = {{.task = "self_check_output", .model = "m", .prompt = "s e c r e t", .completion = "yes"},
                            {.task = "check_sample", .model = "m", .prompt = "q", .completion = "its secrets"}}}}}};
  out.events = {{"Event", {{"text", jinja::Value("my secret")}}}};
  out.colang_history = "bot \"secret word\"";
  out.variables.set("generated_message", jinja::Value("{\"content\":\"s\\\\u0065cret\"}"));
  out.variables.set("kept", jinja::Value(jinja::DictPtr(dict)));
  return out;
}

TEST(GuardrailLog, shows_nothing_that_rails_hid) {
  const TurnResult turn = hiding_turn();
  const std::string log =
      log_json(turn, {.activated_rails = true, .llm_calls = true, .internal_events = true, .colang_history = true}, {});
  EXPECT_FALSE(log.contains("cret")) << log;
  EXPECT_FALSE(log.contains("c r e t")) << log;
  EXPECT_TRUE(log.contains(R"("completion":"yes")")) << "the verdict is shown";
  EXPECT_TRUE(log.contains(R"("found":["a <<<This text is hidden)")) << log;
  const std::string data = output_data_json(turn, {.all_output_vars = true});
  EXPECT_TRUE(data.starts_with(R"({"generated_message":null,"kept":{"found":["a <<<This text is)")) << data;
  EXPECT_FALSE(output_data_json(turn, {.output_vars = {"generated_message", "kept"}}).contains("cret"));
}

TEST(GuardrailCheckAnswer, in_both_forms) {
  TurnResult turn = blocked_turn();
  const GuardrailsData data{.config_ids = ids, .outcome = Outcome::blocked, .rail = turn.rail};
  const std::string own = R"({"config_id":"a","config_ids":["a"],"status":"blocked","rail":"self check input"})";
  EXPECT_EQ(check_answer({.turn = turn, .content = "no", .guardrails = data}),
            R"({"status":"blocked","content":"no","rail":"self check input","guardrails":)" + own + "}");
  EXPECT_EQ(microservice_check_answer({.turn = turn, .content = "no", .guardrails = data}),
            R"({"status":"blocked","rails_status":{"self check input":{"status":"blocked"}},)"
            R"("messages":[{"role":"assistant","content":"no"}],"guardrails_data":)" +
                own + "}");
  turn = {.outcome = Outcome::modified};
  EXPECT_TRUE(
      check_answer({.turn = turn, .content = "x"}).starts_with(R"({"status":"modified","content":"x","rail":null)"));
  EXPECT_TRUE(microservice_check_answer({.turn = turn, .content = "x"})
                  .starts_with(R"({"status":"success","rails_status":{})"));
  turn = {.outcome = Outcome::failed};
  EXPECT_TRUE(check_answer({.turn = turn, .content = "x"}).starts_with(R"({"status":"blocked")"));
}

TEST(GuardrailConfigurations, are_a_bare_list) {
  Configuration configuration{.id = "a", .description = "d"};
  configuration.models.push_back({.type = "main", .engine = "nim", .model = "m", .api_key_env = "SECRET_NAME"});
  configuration.input.flows.push_back({.flow = "self check input", .text = "self check input"});
  const std::vector<ListedConfiguration> list{{.id = "a", .configuration = &configuration, .error = "old"},
                                              {.id = "b", .error = "x:1:2 no"}};
  EXPECT_EQ(
      configurations_list(list),
      R"([{"id":"a","description":"d","rails":{"input":["self check input"],"output":[],"retrieval":[],"tool_input":[],)"
      R"("tool_output":[]},"models":[{"type":"main","engine":"nim","model":"m"}],"streaming":false,)"
      R"("valid":false,"served":true,"error":"old"},{"id":"b","valid":false,"served":false,"error":"x:1:2 no"}])");
  EXPECT_EQ(configurations_list({}), "[]");
}

TEST(GuardrailFailures, say_what_to_do) {
  const std::string_view known[] = {"default", "strict"};
  const web::Failure unknown = unknown_configuration("strct", known);
  EXPECT_EQ(unknown.status, 422);
  EXPECT_EQ(web::message_with_findings(unknown).substr(0, 20), "the body has 1 fault");
  EXPECT_NE(web::message_with_findings(unknown).find("did you mean \"strict\"?"), std::string::npos);
  EXPECT_EQ(no_configuration().status, 422);
  EXPECT_EQ(inline_not_allowed().status, 422);
  EXPECT_EQ(broken_configuration("a", "x").status, 400);
  const std::vector<std::string> rails{"self check facts"};
  EXPECT_NE(no_streaming("a", rails).message.find("self check facts"), std::string::npos);
  EXPECT_EQ(overloaded(std::chrono::seconds(2)).status, 503);
}

}  // namespace
}  // namespace stackgate::guardrail
