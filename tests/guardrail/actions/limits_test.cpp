#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/guardrail/actions/conversation.hpp"
#include "services/guardrail/configuration/detectors.hpp"
#include "tests/guardrail/actions/acting.hpp"

namespace stackgate::guardrail {
namespace {

using test::Acting;
using test::is;
using test::says;
using test::text_value;
using testing::HasSubstr;

struct Limited : Acting {
  Limited() : Acting([](auto&, auto&, int) { return says("x"); }) { configuration->detectors = detectors; }
  ActionResult on(std::string action, std::string_view source, std::string_view text) {
    return run(std::move(action), {}, {{"source", text_value(source)}, {"text", text_value(text)}});
  }
  std::shared_ptr<Detectors> detectors = std::make_shared<Detectors>();
};

TEST(CheckLength, allows_what_is_within_the_limits_of_its_rail) {
  Limited limited;
  limited.detectors->length.input = {.characters = 5};
  limited.detectors->length.output = {.words = 2};
  struct Case {
    std::string_view source, text;
    bool allowed;
  };
  for (const Case& each :
       {Case{"input", "12345", true}, Case{"input", "123456", false}, Case{"input", "ééééé", true},
        Case{"input", "", true}, Case{"output", "two words", true}, Case{"output", "now three words", false}})
    EXPECT_TRUE(is(limited.on("check_length", each.source, each.text), each.allowed)) << each.text;
  EXPECT_EQ(limited.upstream.count(), 0U);
}

TEST(CheckLanguage, allows_the_languages_of_its_rail) {
  Limited limited;
  limited.detectors->language.input = {.allowed = {"en", "de"}, .allow_unknown = true};
  limited.detectors->language.output = {.allowed = {"en"}, .allow_unknown = false};
  constexpr std::string_view english = "This is the text that we have written for you, and it is not long.";
  constexpr std::string_view german = "Das alles haben wir für euch und die anderen auf dem Weg nach oben geschrieben.";
  constexpr std::string_view french = "C'est le texte que nous avons écrit pour vous, et il n'est pas très long.";
  struct Case {
    std::string_view source, text;
    bool allowed;
  };
  for (const Case& each : {Case{"input", english, true}, Case{"input", german, true}, Case{"input", french, false},
                           Case{"input", "12 + 30", true}, Case{"output", english, true}, Case{"output", german, false},
                           Case{"output", "12 + 30", false}})
    EXPECT_TRUE(is(limited.on("check_language", each.source, each.text), each.allowed)) << each.source << each.text;
}

TEST(CheckToolCalls, allows_no_function_that_is_not_named) {
  Limited limited;
  limited.detectors->allowed_functions = {"lookup", "search"};
  struct Case {
    std::string calls;
    bool allowed;
  };
  for (const Case& each :
       {Case{"lookup({})\n", true}, Case{"lookup({})\nsearch({\"q\":\"pay(Ann)\"})\n", true},
        Case{"lookup({})\npay({})\n", false}, Case{"look({})\n", false}, Case{"lookups()\n", false},
        Case{"Lookup()\n", false}, Case{"()\n", false}, Case{"", true},
        Case{tool_call_line("lookup", "{\n\"q\": 1\n}"), true}, Case{tool_call_line("lookup(", "{}"), false},
        Case{tool_call_line("lookup()\nsearch", "{}"), false}, Case{tool_call_line("lookup\nlookup", "{}"), false}})
    EXPECT_TRUE(is(limited.run("check_tool_calls", {{"tool_calls", text_value(each.calls)}}), each.allowed))
        << each.calls;
  limited.detectors->allowed_functions = std::vector<std::string>();
  EXPECT_TRUE(is(limited.run("check_tool_calls", {{"tool_calls", text_value("lookup()\n")}}), false));
}

TEST(Limits, that_the_configuration_does_not_have_fail_closed) {
  Limited limited;
  limited.detectors->length.input = {.characters = 5};
  EXPECT_THAT(limited.on("check_length", "output", "x").error, HasSubstr("rails.config.length.output"));
  EXPECT_THAT(limited.on("check_language", "input", "x").error, HasSubstr("rails.config.language.input"));
  EXPECT_THAT(limited.run("check_tool_calls", {{"tool_calls", text_value("a()\n")}}).error,
              HasSubstr("rails.config.tool_calls"));
  limited.detectors->allowed_functions = {"a"};
  EXPECT_TRUE(limited.run("check_tool_calls").failed) << "no calls";
  EXPECT_TRUE(limited.run("check_length", {}, {{"source", text_value("input")}}).failed) << "no text";
}

}  // namespace
}  // namespace stackgate::guardrail
