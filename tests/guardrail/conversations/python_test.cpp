// actions.py in a conversation: what its actions get, and what becomes of what they give back.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/guardrail/conversations/serving.hpp"

namespace stackgate::guardrail {
namespace {

class CodeInConversations : public testing::Test {
 protected:
  void serve(const std::string& flows, const std::string& code, const std::string& rails = {}) {
    serving_.serve(test::configuration_of({{"b.yml", rails}, {"r.co", flows}, {"actions.py", code}}),
                   [](web::Call&, const test::Asked& asked, int) { return test::main_answer(asked, {"an answer"}); });
  }
  std::string ask(const std::string& messages, const std::string& more = {}) {
    return serving_
        .post("/v1/chat/completions", fmt::format(R"({{"config_id":"c","messages":[{}]{}}})", messages, more))
        .body;
  }
  static std::string said(const std::string& body) {
    return std::string(json::text(&json::items(*test::Read(body), {"choices"})[0], {"message", "content"}));
  }
  test::Serving serving_{};
};

TEST_F(CodeInConversations, gets_the_events_of_the_conversation) {
  serve("define flow\n  user ...\n  $text = execute look\n  bot $text\n", R"py(
from nemoguardrails.actions import action
from nemoguardrails.actions.llm.utils import get_last_user_utterance, get_last_bot_utterance

@action()
def look(events):
    return f"{len(events)} {get_last_user_utterance(events)} {get_last_bot_utterance(events)}"
)py");
  const std::string body = ask(R"({"role":"user","content":"first"},{"role":"assistant","content":"answered"},
                                  {"role":"user","content":"second"})");
  EXPECT_EQ(said(body), "3 second answered") << body;
}

TEST_F(CodeInConversations, creates_events_that_start_flows) {
  serve(R"(define flow
  user ...
  execute order
  bot "ordered"

define flow
  event OrderPlaced(size=3)
  bot "three of them"
)",
        R"py(
from nemoguardrails.actions import action
from nemoguardrails.actions.actions import ActionResult
from nemoguardrails.utils import new_event_dict

@action()
def order():
    return ActionResult(return_value=1, events=[new_event_dict("OrderPlaced", size=3)])
)py");
  const std::string body = ask(R"({"role":"user","content":"x"})", R"(,"options":{"log":{"internal_events":true}})");
  EXPECT_EQ(said(body), "ordered\nthree of them") << body;
  EXPECT_TRUE(body.contains(R"({"type":"OrderPlaced","size":3})")) << body;
}

TEST_F(CodeInConversations, creates_exceptions_of_rails) {
  serve("define flow judge\n  execute judge\n  stop\n", R"py(
from nemoguardrails.actions import action
from nemoguardrails.actions.actions import ActionResult

@action()
def judge():
    return ActionResult(events=[{"type": "InputRailException", "message": "not this"}])
)py",
        "rails: {input: {flows: [judge]}}\n");
  const std::string body = ask(R"({"role":"user","content":"x"})");
  EXPECT_TRUE(body.contains(R"("content":{"type":"InputRailException","message":"not this"})")) << body;
}

TEST_F(CodeInConversations, registers_actions_by_names_that_only_running_it_tells) {
  serve("define flow\n  user ...\n  $text = execute say_b\n  bot $text\n", R"py(
def init(app):
    for name in ["a", "b"]:
        app.register_action(lambda name=name: "this is " + name, "say_" + name)
)py");
  EXPECT_EQ(said(ask(R"({"role":"user","content":"x"})")), "this is b");
  serve("define flow\n  user ...\n  $text = execute say_c\n  bot $text\n", R"py(
def init(app):
    app.register_action(lambda: "never", "say_" + "b")
)py");
  EXPECT_TRUE(ask(R"({"role":"user","content":"x"})").contains("Internal server error"));
}

}  // namespace
}  // namespace stackgate::guardrail
