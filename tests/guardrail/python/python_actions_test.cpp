#include "services/guardrail/python/python_actions.hpp"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/jinja/to_json.hpp"

namespace stackgate::guardrail {
namespace {

using namespace std::chrono_literals;

constexpr const char* source = R"py(
import time
from typing import Optional
from nemoguardrails.actions import action
from nemoguardrails.actions.actions import ActionResult
from langchain.llms.base import BaseLLM

@action(name="check_blocked_terms", is_system_action=True)
async def check(context: Optional[dict] = None, llm: Optional[BaseLLM] = None):
    print("this must not break the pipe")
    return "secret" in context["bot_message"]

@action()
def connect():
    import socket
    socket.socket()

@action()
def hang():
    time.sleep(600)

@action()
def spin():
    while True:
        pass

@action()
def eat():
    return len("x" * (2 << 30))

@action()
def die():
    import os
    os._exit(3)

@action()
def fault(text):
    raise ValueError("the text was " + text)

@action()
def user():
    import os
    return os.getuid()

@action()
def variables():
    import os
    return sorted(os.environ)

@action()
async def ask(llm, size: int = 3):
    answer = await llm.apredict("how many?", temperature=0.5)
    return ActionResult(return_value=answer, context_updates={"size": size})

@action()
def nothing_json():
    return float("nan")

@action()
def model(config):
    return config.models[0]["model"]

def init(app):
    app.register_action(lambda text: text.upper(), "upper")
)py";

std::string answered_prompt;

PythonOptions quick() { return {.python = "/usr/bin/python3", .timeout = 2s, .processes = 1}; }

std::unique_ptr<PythonActions> package(std::vector<PythonFile> files, PythonOptions options = quick()) {
  return std::make_unique<PythonActions>(std::move(files), "demo", std::move(options),
                                         [](const WorkerAsks& asks) -> std::expected<std::string, std::string> {
                                           answered_prompt = asks.prompt;
                                           return "seven";
                                         });
}

std::unique_ptr<PythonActions> actions(PythonOptions options = quick(), std::string text = source) {
  return package({{"actions.py", std::move(text)}}, std::move(options));
}

ActionResult run(PythonActions& actions, std::string name, Variables parameters = {}, Variables context = {}) {
  std::promise<ActionResult> promise;
  auto later = promise.get_future();
  actions.run({.id = 5,
               .action = std::move(name),
               .parameters = std::move(parameters),
               .context = std::make_shared<const Variables>(std::move(context))},
              [&](ActionResult result) { promise.set_value(std::move(result)); });
  return later.get();
}

TEST(PythonActions, are_called_with_what_they_name) {
  const auto all = actions();
  const ActionResult found = run(*all, "check_blocked_terms", {}, {{"bot_message", jinja::Value("a secret")}});
  EXPECT_FALSE(found.failed) << found.error;
  EXPECT_EQ(found.id, 5U);
  ASSERT_NE(found.value.boolean(), nullptr);
  EXPECT_TRUE(*found.value.boolean());
  EXPECT_FALSE(*run(*all, "check_blocked_terms", {}, {{"bot_message", jinja::Value("fine")}}).value.boolean());
  EXPECT_EQ(run(*all, "upper", {{"text", jinja::Value("abc")}}).value.bytes(), "ABC");
  EXPECT_EQ(run(*all, "upper", {{"0", jinja::Value("by position")}}).value.bytes(), "BY POSITION");
  auto model = std::make_shared<jinja::Dict>();
  model->set(jinja::Value("model"), jinja::Value("llama"));
  auto config = std::make_shared<jinja::Dict>();
  config->set(
      jinja::Value("models"),
      jinja::Value(jinja::ListPtr(std::make_shared<jinja::List>(std::vector{jinja::Value(jinja::DictPtr(model))}))));
  EXPECT_EQ(run(*all, "model", {}, {{"config", jinja::Value(jinja::DictPtr(config))}}).value.bytes(), "llama");
}

TEST(PythonActions, ask_a_model_through_the_server) {
  const auto all = actions();
  const ActionResult result = run(*all, "ask", {{"size", jinja::Value(std::int64_t{7})}});
  EXPECT_EQ(result.value.bytes(), "seven") << result.error;
  EXPECT_EQ(answered_prompt, "how many?");
  ASSERT_TRUE(result.context_updates.contains("size"));
  EXPECT_EQ(*result.context_updates.at("size").integer(), 7);
}

TEST(PythonActions, fail_closed_and_keep_values_to_themselves) {
  const auto all = actions();
  const ActionResult raised = run(*all, "fault", {{"text", jinja::Value("my password")}});
  EXPECT_TRUE(raised.failed);
  EXPECT_THAT(raised.error, testing::HasSubstr("ValueError"));
  EXPECT_THAT(raised.error, testing::Not(testing::HasSubstr("password")));
  EXPECT_TRUE(run(*all, "no_such_action").failed);
  EXPECT_TRUE(run(*all, "nothing_json").failed);
  EXPECT_EQ(run(*all, "upper", {{"text", jinja::Value("still there")}}).value.bytes(), "STILL THERE");
}

TEST(PythonActions, have_no_network_no_memory_without_end_and_none_of_our_environment) {
  const auto all = actions();
  EXPECT_THAT(run(*all, "connect").error, testing::HasSubstr("PermissionError"));
  EXPECT_THAT(run(*all, "eat").error, testing::HasSubstr("MemoryError"));
  ::setenv("STACKGATE_TEST_SECRET", "s3cret", 1);
  const auto fresh = actions();
  const ActionResult names = run(*fresh, "variables");
  ASSERT_NE(names.value.list(), nullptr) << names.error;
  for (const jinja::Value& each : (*names.value.list())->items) EXPECT_NE(each.bytes(), "STACKGATE_TEST_SECRET");
  if (::getuid() == 0) {
    EXPECT_EQ(*run(*fresh, "user").value.integer(), 65534);
  }
  PythonOptions open = quick();
  open.network = true;
  EXPECT_FALSE(run(*actions(open), "connect").failed);
}

TEST(PythonActions, that_hang_or_die_get_a_new_process) {
  const auto all = actions();
  for (const char* name : {"hang", "spin", "die"}) {
    EXPECT_TRUE(run(*all, name).failed) << name;
    EXPECT_EQ(run(*all, "upper", {{"text", jinja::Value("again")}}).value.bytes(), "AGAIN") << name;
  }
}

TEST(PythonActions, run_side_by_side_and_wait_in_a_bounded_queue) {
  PythonOptions options = quick();
  options.processes = 2;
  options.waiting = 2;
  const auto all = actions(options);
  std::promise<void> both;
  std::atomic<int> left = 2, refused = 0;
  for (int i = 0; i < 8; ++i)
    all->run({.action = i < 2 ? "hang" : "upper"}, [&](const ActionResult& result) {
      if (result.error.contains("too many"))
        ++refused;
      else if (--left == 0)
        both.set_value();
    });
  both.get_future().wait();
  EXPECT_GE(refused.load(), 4);
}

TEST(PythonActions, that_cannot_be_loaded_say_why) {
  const auto broken = actions(quick(), "def f(:\n");
  EXPECT_THAT(run(*broken, "f").error,
              testing::AllOf(testing::HasSubstr("demo"), testing::HasSubstr("(actions.py, line 1)"),
                             testing::HasSubstr("SyntaxError")));
  const auto absent = actions(quick(), "import a_module_that_is_not_there\n");
  EXPECT_THAT(run(*absent, "f").error, testing::HasSubstr("a_module_that_is_not_there"));
  PythonOptions none = quick();
  none.python = "/nowhere/python3";
  EXPECT_THAT(run(*actions(none), "upper").error, testing::HasSubstr("/nowhere/python3"));
}

TEST(PythonActions, of_a_package_are_modules) {
  const auto all = package({
      {"actions/__init__.py", "from .prices import price\nTAX = 2\n"},
      {"actions/prices.py",
       "from nemoguardrails.actions import action\nfrom . import helpers\nfrom .deep.table import costs\n\n"
       "@action()\ndef price(name):\n  import actions\n  return helpers.rounded(costs[name]) + actions.TAX\n\n"
       "@action()\ndef missing():\n  return costs['nothing']\n"},
      {"actions/helpers.py", "def rounded(value):\n  return int(value)\n\nname = __name__\n"},
      {"actions/deep/table.py", "costs = {'tea': 3.5}\n"},
      {"actions/orders.py",
       "from nemoguardrails.actions import action\nfrom actions.helpers import name\n\n"
       "@action(name='OrderAction')\nclass Order:\n  def run(self):\n    return name + ' ' + __name__\n"},
      {"actions.py", "from nemoguardrails.actions import action\n\n@action()\ndef plain():\n  return TAX\n"},
      {"config.py", "from actions.helpers import rounded\n\ndef init(app):\n  app.register_action(rounded, 'round')\n"},
  });
  const auto names = all->list();
  ASSERT_TRUE(names.has_value()) << names.error().message;
  EXPECT_THAT(names->actions, testing::UnorderedElementsAre("price", "missing", "OrderAction", "plain", "round"));
  EXPECT_EQ(*run(*all, "price", {{"name", jinja::Value("tea")}}).value.integer(), 5);
  EXPECT_EQ(*run(*all, "plain").value.integer(), 2);
  EXPECT_EQ(*run(*all, "round", {{"0", jinja::Value(7.9)}}).value.integer(), 7);
  EXPECT_EQ(run(*all, "OrderAction").value.bytes(), "actions.helpers actions.orders");
  EXPECT_EQ(run(*all, "missing").error, "KeyError (actions/prices.py:12)");
}

TEST(PythonActions, of_a_package_without_an_init_file_and_with_a_fault) {
  EXPECT_EQ(*run(*package({{"actions/a.py", "from .b import one\n"},
                           {"actions/b.py",
                            "from nemoguardrails.actions import action\n\n@action()\ndef one():\n  return 1\n"}}),
                 "one")
                 .value.integer(),
            1);
  EXPECT_THAT(run(*package({{"actions/a.py", "from .nowhere import one\n"}}), "one").error,
              testing::AllOf(testing::HasSubstr("ModuleNotFoundError (actions/a.py:1)"),
                             testing::HasSubstr("actions.nowhere")));
}

TEST(PythonActions, are_listed) {
  const auto names = actions()->list();
  ASSERT_TRUE(names.has_value());
  EXPECT_THAT(names->actions, testing::IsSupersetOf({"check_blocked_terms", "upper", "ask"}));
}

TEST(PythonActions, are_tried_before_they_are_served) {
  const auto tried = [](const std::string& code, PythonOptions options = quick()) -> std::string {
    Configuration configuration{.id = "demo"};
    configuration.python_files = {{"config.py", "def init(app):\n  app.register_filter(len, 'size')\n"},
                                  {"actions.py", code}};
    configuration.files = std::make_shared<const std::vector<File>>(
        std::vector<File>{{"config.py", "", "demo/config.py"}, {"actions.py", code, "demo/actions.py"}});
    std::string out;
    for (const validate::Finding& each : try_python(configuration, options)) out += each.path + ": " + each.problem;
    return out;
  };
  EXPECT_EQ(tried(source), "");
  EXPECT_THAT(tried("x = 1\n\ndef f(:\n"),
              testing::StartsWith("demo/actions.py:3:1: cannot be loaded: SyntaxError (actions.py:3)"));
  EXPECT_EQ(tried("x = 1\nimport a_module_that_is_not_there\n"),
            "demo/actions.py:2:1: cannot be loaded: ModuleNotFoundError (actions.py:2): No module named "
            "'a_module_that_is_not_there'");
  EXPECT_EQ(tried("import time\ntime.sleep(600)\n"),
            "demo/config.py: cannot be loaded: it took too long and was ended");
  PythonOptions none = quick();
  none.python = "";
  EXPECT_EQ(tried("def f(:\n", none), "") << "none is run";
  none.python = "/nowhere/python3";
  EXPECT_THAT(tried(source, none), testing::HasSubstr("/nowhere/python3 cannot be started"));
}

constexpr const char* functions = R"py(
import asyncio, time

async def loud(text, mark="!"):
    return text.upper() + mark

def answer(text):
    from nemoguardrails.actions import llm_call
    return asyncio.run(llm_call(None, text))

def init(app):
    app.register_filter(loud).register_filter(lambda text: time.sleep(600), "slow")
    app.register_filter(lambda text: [text, {"n": 1, "none": None}], name="parts")
    app.register_filter(answer, "ask").register_filter(lambda: 1, "nothing")
    app.register_filter(lambda text: "x" * (5 << 20), "long").register_filter(lambda text: 1 / 0, "fault")
    app.register_output_parser(lambda text: text == "ja", "german")
)py";

/// What `name` makes of "a text".
std::string called(PythonActions& code, CodeFunction kind, std::string_view name, int times = 1) {
  std::promise<std::string> promise;
  code.call([&](const CallCode* call) {
    if (call == nullptr) return promise.set_value("refused");
    std::expected<jinja::Value, std::string> made = jinja::Value("a text");
    for (int i = 0; i < times; ++i) made = (*call)(kind, name, {{jinja::Value("a text")}, {}});
    promise.set_value(made ? jinja::to_json(*made) : made.error());
  });
  return promise.get_future().get();
}

TEST(PythonActions, lend_their_filters_and_output_parsers) {
  const auto code = actions(quick(), functions);
  const auto names = code->list();
  ASSERT_TRUE(names.has_value()) << names.error().message;
  EXPECT_THAT(names->filters, testing::ElementsAre("ask", "fault", "long", "loud", "nothing", "parts", "slow"));
  EXPECT_THAT(names->parsers, testing::ElementsAre("german"));
  const auto filter = [&](std::string_view name, int times = 1) {
    return called(*code, CodeFunction::filter, name, times);
  };
  EXPECT_EQ(filter("loud"), "\"A TEXT!\"");
  EXPECT_EQ(filter("parts"), R"(["a text",{"n":1,"none":null}])");
  EXPECT_EQ(called(*code, CodeFunction::parser, "german"), "false");
  EXPECT_EQ(filter("fault"), "the filter fault: ZeroDivisionError (actions.py:15)");
  EXPECT_THAT(filter("nothing"), testing::HasSubstr("TypeError"));
  EXPECT_THAT(filter("german"), testing::HasSubstr("LookupError")) << "it is no filter";
  EXPECT_THAT(filter("ask"), testing::HasSubstr("RuntimeError")) << "there is no model for it";
  EXPECT_EQ(filter("long"), "the filter long: its process ended");
  EXPECT_EQ(filter("loud", 1'001), "the filter loud: more than 1,000 calls in one prompt");
  EXPECT_EQ(filter("loud"), "\"A TEXT!\"");
}

TEST(PythonActions, whose_filters_hang_cost_the_prompt) {
  const auto code = actions(quick(), functions);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(called(*code, CodeFunction::filter, "slow", 3), "the filter slow: it took too long and was ended");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 4s) << "all calls of a prompt have the time of one";
  EXPECT_EQ(called(*code, CodeFunction::filter, "loud"), "\"A TEXT!\"");
  PythonOptions busy = quick();
  busy.waiting = 0;
  EXPECT_EQ(called(*actions(busy, functions), CodeFunction::filter, "loud"), "refused");
}

TEST(PythonActions, are_tried_for_what_prompts_use) {
  Configuration configuration{.id = "demo"};
  configuration.python_files = {{"config.py", "def init(app):\n  app.register_filter(len, 'size')\n"}};
  configuration.files =
      std::make_shared<const std::vector<File>>(std::vector<File>{{"config.py", "", "demo/config.py"}});
  const PromptCode code{.any_filter = true, .any_parser = true};
  Prompt prompt{.task = "self_check_input", .parts = {}, .output_parser = "mine", .parsed_by_code = true};
  prompt.parts.push_back(*content_part("{{ x | size }} {{ x | syze }}", code));
  configuration.prompts.prompts.push_back(std::move(prompt));
  std::string out;
  for (const validate::Finding& each : try_python(configuration, quick()))
    out += each.path + ": " + each.problem + "; " + each.fix + "\n";
  EXPECT_EQ(out,
            "demo/config.py: init(app) registers no filter \"syze\", which the prompt of self_check_input uses; call "
            "app.register_filter(function, \"syze\") in it\n"
            "demo/config.py: init(app) registers no output parser \"mine\", which the prompt of self_check_input uses; "
            "call app.register_output_parser(function, \"mine\") in it\n");
}

// A configuration that was reloaded is held by what its last action calls back.
TEST(PythonActions, may_end_on_a_thread_of_their_own) {
  std::shared_ptr<PythonActions> all = actions();
  std::promise<ActionResult> promise;
  all->run({.action = "upper", .parameters = {{"text", jinja::Value("x")}}},
           [&promise, held = all](ActionResult result) { promise.set_value(std::move(result)); });
  all.reset();
  EXPECT_EQ(promise.get_future().get().value.bytes(), "X");
}

TEST(PythonActions, end_while_one_runs) {
  auto all = actions();
  std::promise<ActionResult> promise;
  all->run({.action = "hang"}, [&](ActionResult result) { promise.set_value(std::move(result)); });
  all.reset();
  EXPECT_TRUE(promise.get_future().get().failed);
}

}  // namespace
}  // namespace stackgate::guardrail
