// A state that leaves and comes back, and what a client may send in its place.
#include "services/guardrail/api/state.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/guardrail/api/limits.hpp"
#include "services/kit/jinja/to_json.hpp"

namespace stackgate::guardrail {
namespace {

TEST(GuardrailState, comes_back_as_it_left) {
  DialogState state{.waiting = {{.flow = "greeting", .at = 3}}};
  state.variables = {{"name", jinja::Value("Ann \"x\"")}, {"n", jinja::Value(std::int64_t{-1})}, {"u", jinja::Value()}};
  const std::string text = to_json(state);
  EXPECT_EQ(text,
            R"({"version":1,"waiting":[{"flow":"greeting","at":3}],"variables":{"n":-1,"name":"Ann \"x\"","u":null}})");
  const auto back = read_state(text);
  ASSERT_TRUE(back.has_value()) << back.error();
  EXPECT_EQ(to_json(*back), text);
  EXPECT_EQ(to_json(*read_state("{}")), R"({"version":1,"waiting":[],"variables":{}})");
}

TEST(GuardrailState, callers_and_planned_steps_come_back) {
  DialogState state{.waiting = {{.flow = "inner", .at = 3, .callers = {{.flow = "outer", .at = 2}}}},
                    .planned = {"user thank", "bot x"}};
  const std::string text = to_json(state);
  EXPECT_EQ(text, R"({"version":1,"waiting":[{"flow":"inner","at":3,"callers":[{"flow":"outer","at":2}]}],)"
                  R"("planned":["user thank","bot x"],"variables":{}})");
  const auto back = read_state(text);
  ASSERT_TRUE(back.has_value()) << back.error();
  EXPECT_EQ(to_json(*back), text);
}

TEST(GuardrailState, junk_is_refused) {
  const auto why = [](std::string_view text) {
    const auto read = read_state(text);
    return read ? std::string("read") : read.error();
  };
  EXPECT_EQ(why("[]"), "must be an object");
  EXPECT_TRUE(why("{").starts_with("is no JSON"));
  const std::string foreign = "is none that this server gave: it has no \"version\" 1";
  for (const char* text : {R"({"events":[]})", R"({"version":2})", R"({"version":"1"})", R"({"version":1.5})"})
    EXPECT_EQ(why(text), foreign) << text;
  const std::string other = "has something else than {\"flow\", \"at\"} in \"waiting\"";
  for (const char* waiting : {"[7]", R"([{"flow":"","at":1}])", R"([{"flow":"f"}])", R"([{"flow":"f","at":-1}])",
                              R"([{"flow":"f","at":4294967296}])"})
    EXPECT_EQ(why(fmt::format(R"({{"version":1,"waiting":{}}})", waiting)), other) << waiting;
  EXPECT_EQ(why(R"({"version":1,"waiting":{}})"), "has no list of at most 1000 flows in \"waiting\"");
  EXPECT_EQ(why(R"({"version":1,"waiting":[{"flow":"f","at":1,"callers":[7]}]})"),
            "has something else than {\"flow\", \"at\"} in \"callers\"");
  for (const char* planned : {"7", "[7]", R"(["a",""])", R"(["","","","","","","","","","","","","","","","",""])"})
    EXPECT_EQ(why(fmt::format(R"({{"version":1,"planned":{}}})", planned)),
              "has no list of at most 16 steps in \"planned\"");
  EXPECT_EQ(why(R"({"version":1,"variables":[]})"), "has \"variables\" that are no object");
  EXPECT_EQ(why(R"({"version":1,"variables":{"a":)" + std::string(33, '[') + std::string(33, ']') + "}}"),
            "is nested more than 32 times");
  EXPECT_TRUE(
      why(R"({"version":1,"variables":{"a":")" + std::string(largest_state, 'x') + "\"}}").starts_with("is no JSON"));
}

}  // namespace
}  // namespace stackgate::guardrail
