// Texts with template syntax stay texts: the user's, the models', those of the knowledge base and of variables; in the
// prompts of each rail and in those of a dialog.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/kit/json/write.hpp"
#include "tests/guardrail/conversations/playing.hpp"

namespace stackgate::guardrail {
namespace {

using test::Asked;
using test::Read;
using test::Row;

constexpr std::string_view attack =
    "{{ 7 * 14285714286 }} {% set x = 7 * 14285714286 %}{{ x }} {# gone #} ${{ hidden }} $hidden {{ hidden }} {{ "
    "config }} {% raw %}";
constexpr std::string_view hidden = "xyzzy-0451";

std::string hidden_context() {
  return json::object_text([](json::Writer& w) {
    w.member("hidden", hidden);
    w.member("variable", attack);
    w.member("relevant_chunks", attack);
    for (const std::string_view each : {"check_facts", "check_hallucination", "hallucination_warning"})
      w.member(each, true);
  });
}

/// Nothing was executed on the way to a model or to the client.
void expect_texts(const test::Serving& serving, const std::string& answered) {
  for (const Asked& each : serving.asked()) {
    EXPECT_FALSE(each.body.contains("100000000002")) << each.body;
    EXPECT_FALSE(each.body.contains(hidden)) << each.body;
  }
  EXPECT_FALSE(answered.contains("100000000002")) << answered;
  EXPECT_FALSE(answered.contains(hidden)) << answered;
}

/// Whether a text of JSON holds the attack in one of its strings.
bool holds_attack(const std::string& json) {
  std::string written;
  json::Writer(written).value(attack);
  return json.contains(std::string_view(written).substr(1, written.size() - 2));
}

class Injection : public testing::TestWithParam<Row> {};

TEST_P(Injection, stays_text) {
  static test::Serving serving;
  Row row = GetParam();
  row.user = row.main = attack;
  row.context = hidden_context();
  if (!row.knowledge.empty()) row.knowledge = fmt::format("# Page\n{}\n", attack);
  for (const bool stream : {false, true}) {
    test::serve(serving, row);
    const auto reply = serving.post("/v1/chat/completions", test::body_of(row, {.stream = stream, .log = false}));
    ASSERT_EQ(reply.status, 200) << reply.body;
    expect_texts(serving, reply.body);
    for (const Asked& each : serving.asked()) EXPECT_TRUE(holds_attack(each.body)) << each.body;
    EXPECT_FALSE(serving.asked().empty() && !reply.body.contains("content_filter"));
  }
}

std::vector<Row> rows_to_attack() {
  std::vector<Row> out;
  for (const Row& row : test::all_rows())
    if (row.kind == "on") out.push_back(row);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Rails, Injection, testing::ValuesIn(rows_to_attack()),
                         [](const auto& each) { return each.param.name; });

// Every prompt of a dialog, with its history, its examples, a value that a model wrote, and texts of the bot's.
TEST(InjectionIntoDialogs, stays_text) {
  test::Serving serving;
  const auto configuration = test::configuration_of({{"r.co", R"(define user ask something
  "what is it?"

define bot tell value
  "It is $value, and {{ variable }}."

define flow
  user ask something
  # the value
  $value = ...
  bot tell value
  bot say more
  user ask something
  bot tell value
)"},
                                                     {"kb/page.md", fmt::format("# What is it?\n{}\n", attack)}});
  ASSERT_NE(configuration, nullptr);
  serving.serve(configuration, [](web::Call&, const Asked& asked, int) {
    std::string quoted;
    json::Writer(quoted).value(attack);
    if (asked.body.contains("Name the intent")) return test::main_answer(asked, {"User intent: ask something"});
    if (asked.body.contains("Find the value")) return test::main_answer(asked, {quoted});
    return test::main_answer(asked, {"Bot message: " + quoted});
  });
  const std::string body = json::object_text([](json::Writer& w) {
    w.member("config_id", "c");
    w.array("messages", [&] {
      for (const std::string_view role : {"user", "assistant", "user"})
        w.object([&] {
          w.member("role", role);
          w.member("content", attack);
        });
    });
    w.key("context");
    w.raw(hidden_context());
  });
  const auto reply = serving.post("/v1/chat/completions", body);
  ASSERT_EQ(reply.status, 200) << reply.body;
  expect_texts(serving, reply.body);
  EXPECT_GE(serving.asked().size(), 3U) << "an intent, a value and a message were asked for";
  const Read answer(reply.body);
  EXPECT_EQ(json::text(&json::items(*answer, {"choices"})[0], {"message", "content"}),
            fmt::format("It is {0}, and {0}.\n{0}", attack));
}

}  // namespace
}  // namespace stackgate::guardrail
