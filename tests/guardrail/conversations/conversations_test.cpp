// Every built-in rail: on, off, blocking, altering, failing; whole, as a stream, piece by piece, and checked only.
#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/guardrail/library/library.hpp"
#include "tests/guardrail/conversations/playing.hpp"

namespace stackgate::guardrail {
namespace {

using test::Read;
using test::Row;
using test::Streamed;
using web::test::Reply;

constexpr std::string_view in_pieces =
    "rails:\n  output:\n    streaming: {enabled: true, chunk_size: 8, context_size: 8}\n";

/// One front and one endpoint for all rows.
test::Serving& serving() {
  static test::Serving out;
  return out;
}

class Conversations : public testing::TestWithParam<Row> {
 protected:
  const Row& row() const { return GetParam(); }
  const BuiltInRail& rail() const { return test::rail_of(row()); }
  bool is(std::string_view kind) const { return row().kind == kind; }
  bool looks_at_input() const { return rail().place == RailPlace::input || rail().place == RailPlace::retrieval; }
  std::string status() const {
    if (is("blocked") || is("fails")) return "blocked";
    return is("altered") && rail().place != RailPlace::retrieval ? "modified" : "passed";
  }

  void serve(bool with = true, const std::string& more = {}) const { test::serve(serving(), row(), with, more); }
  std::string body(const test::Asking& asking) const { return test::body_of(row(), asking); }

  /// The main model was asked unless the question was blocked, and neither it nor the client got what is hidden.
  void expect_hidden(bool stream) const {
    const std::string asked = test::asked_of_main(serving());
    EXPECT_EQ(asked.empty(), status() == "blocked" && looks_at_input());
    if (row().hides.empty()) return;
    if (looks_at_input()) {
      EXPECT_FALSE(asked.contains(row().hides)) << asked;
    }
    // What the user wrote is no secret of the user's; what else rails hid is in no log either.
    if (rail().place == RailPlace::input) return;
    const std::string answered = serving().post("/v1/chat/completions", body({.stream = stream})).body;
    EXPECT_FALSE(answered.contains(row().hides)) << row().hides << " in " << answered;
  }

  /// What log and status say of the rail.
  void expect_told(const json::Value* guardrails) const {
    EXPECT_EQ(json::text(guardrails, {"status"}), status());
    EXPECT_EQ(json::text(guardrails, {"rail"}), status() == "blocked" ? row().rail : "");
    const json::Value* found = nullptr;
    for (const json::Value& each : json::items(guardrails, {"log", "activated_rails"}))
      if (json::text(&each, {"name"}) == row().rail) found = &each;
    ASSERT_NE(found, nullptr) << "the log does not name the rail";
    const RailPlace place = rail().place;
    EXPECT_EQ(json::text(found, {"type"}), place == RailPlace::tool_call ? "output" : list_of(place));
    EXPECT_EQ(json::flag(found, {"stop"}), status() == "blocked");
    const auto actions = json::items(found, {"executed_actions"});
    ASSERT_EQ(actions.size(), 1U);
    EXPECT_EQ(json::text(&actions[0], {"action_name"}), rail().action);
    EXPECT_EQ(json::flag(&actions[0], {"failed"}), is("fails"));
  }

  void expect_stream(const Streamed& stream) const {
    EXPECT_TRUE(stream.done);
    EXPECT_EQ(stream.text, row().answer);
    EXPECT_EQ(stream.error, "");
    EXPECT_EQ(stream.calls.empty(), row().calls.empty() || status() == "blocked");
    EXPECT_EQ(stream.finish_reason, status() == "blocked" ? "content_filter"
                                    : row().calls.empty() ? "stop"
                                                          : "tool_calls");
  }
};

class Refusals : public Conversations {};
class Checks : public Conversations {};
class Off : public Conversations {};

TEST_P(Conversations, whole) {
  serve();
  const Reply reply = serving().post("/v1/chat/completions", body({}));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const Read answer(reply.body);
  const json::Value& choice = json::items(*answer, {"choices"})[0];
  EXPECT_EQ(json::text(&choice, {"message", "content"}), row().answer);
  EXPECT_EQ(json::items(&choice, {"message", "tool_calls"}).empty(), row().calls.empty() || status() == "blocked");
  expect_told(json::at(*answer, {"guardrails"}));
  expect_hidden(false);
}

TEST_P(Conversations, streamed) {
  serve();
  const Reply reply = serving().post("/v1/chat/completions", body({.stream = true}));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const Streamed stream = test::read_stream(reply.body);
  expect_stream(stream);
  expect_told(*Read(stream.guardrails));
  expect_hidden(true);
}

// Output rails piece by piece, where they can be; else the request is refused.
TEST_P(Conversations, piece_by_piece) {
  serve(true, std::string(in_pieces));
  const Reply reply = serving().post("/v1/chat/completions", body({.stream = true}));
  if (rail().place == RailPlace::output && !rail().whole_answer.empty()) {
    EXPECT_EQ(reply.status, 400);
    EXPECT_TRUE(reply.body.contains(row().rail)) << reply.body;
    const auto without =
        serving().post("/v1/chat/completions", body({.stream = true, .rails = R"({"output":["another rail"]})"}));
    EXPECT_EQ(without.status, 200) << "it does not run: " << without.body;
    return;
  }
  ASSERT_EQ(reply.status, 200) << reply.body;
  const Streamed stream = test::read_stream(reply.body);
  expect_hidden(true);
  if (status() != "blocked" || rail().place != RailPlace::output) return expect_stream(stream);
  const Read error(stream.error);
  EXPECT_EQ(json::text(*error, {"type"}), "guardrails_violation");
  EXPECT_EQ(json::text(*error, {"code"}), "content_blocked");
  EXPECT_EQ(json::text(*error, {"param"}), row().rail);
  EXPECT_TRUE(row().main.starts_with(stream.text) && stream.text != row().main) << stream.text;
  EXPECT_EQ(stream.finish_reason, "");
  EXPECT_TRUE(stream.done);
}

TEST_P(Refusals, with_exceptions) {
  const std::string type(is("fails") ? "RailFailedException" : rail().exception);
  ASSERT_FALSE(type.empty()) << "a rail that blocks has an exception";
  serve(true, "enable_rails_exceptions: true\n");
  const Reply reply = serving().post("/v1/chat/completions", body({}));
  const Read answer(reply.body);
  ASSERT_FALSE(json::items(*answer, {"messages"}).empty()) << reply.body;
  const json::Value& message = json::items(*answer, {"messages"})[0];
  EXPECT_EQ(json::text(&message, {"role"}), "exception");
  EXPECT_EQ(json::text(&message, {"content", "type"}), type);
  expect_told(json::at(*answer, {"guardrails"}));
  expect_hidden(false);

  const Reply second = serving().post("/v1/chat/completions", body({.stream = true}));
  const Streamed stream = test::read_stream(second.body);
  EXPECT_EQ(json::text(*Read(stream.error), {"exception", "type"}), type);
  EXPECT_EQ(stream.text, "");
  EXPECT_TRUE(stream.done);
  if (!rail().whole_answer.empty() && rail().place == RailPlace::output) return;  // it refuses streams in pieces

  serve(true, std::string("enable_rails_exceptions: true\n").append(in_pieces));
  const Streamed pieces = test::read_stream(serving().post("/v1/chat/completions", body({.stream = true})).body);
  EXPECT_EQ(json::text(*Read(pieces.error), {"exception", "type"}), type);
  EXPECT_TRUE(row().main.starts_with(pieces.text) && pieces.text.size() < row().main.size() + row().calls.size());
  EXPECT_TRUE(pieces.done);
}

// The same of POST /v1/checks, where no model is asked for an answer and nothing is retrieved.
TEST_P(Checks, without_an_answer) {
  serve();
  const Reply reply = serving().post("/v1/checks", body({.given = rail().place != RailPlace::input}));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const Read answer(reply.body);
  EXPECT_EQ(json::text(*answer, {"status"}), status());
  EXPECT_EQ(json::text(*answer, {"rail"}), status() == "blocked" ? row().rail : "");
  const auto asked = test::models_asked(serving());
  EXPECT_EQ(std::ranges::count(asked, "main"), rail().action == "self_check_hallucination" ? 2 : 0);
}

TEST_P(Off, says_nothing) {
  const std::string_view list = rail().place == RailPlace::tool_call ? "tool_call" : list_of(rail().place);
  for (const bool stream : {false, true})
    for (const auto& [with, rails] :
         {std::pair{false, std::string()}, std::pair{true, fmt::format(R"({{"{}":false}})", list)},
          std::pair{true, fmt::format(R"({{"{}":["another rail"]}})", list)}}) {
      serve(with);
      const Reply reply = serving().post("/v1/chat/completions", body({.stream = stream, .rails = rails}));
      ASSERT_EQ(reply.status, 200) << reply.body;
      const Streamed got = stream ? test::read_stream(reply.body) : Streamed{};
      const Read answer(stream ? got.guardrails : reply.body);
      const json::Value* guardrails = stream ? *answer : json::at(*answer, {"guardrails"});
      EXPECT_EQ(json::text(guardrails, {"status"}), "passed");
      for (const json::Value& each : json::items(guardrails, {"log", "activated_rails"}))
        EXPECT_NE(json::text(&each, {"name"}), row().rail);
      EXPECT_EQ(test::models_asked(serving()), std::vector<std::string>{"main"});
      if (stream) {
        expect_stream(got);
      } else {
        EXPECT_EQ(json::text(&json::items(*answer, {"choices"})[0], {"message", "content"}), row().answer);
      }
    }
}

std::vector<Row> rows_that(bool (*fits)(const Row&)) {
  std::vector<Row> out;
  std::ranges::copy_if(test::all_rows(), std::back_inserter(out), fits);
  return out;
}
std::string name_of(const testing::TestParamInfo<Row>& each) { return each.param.name; }

bool is_on(const Row& row) { return row.kind != "off"; }
bool is_off(const Row& row) { return row.kind == "off"; }
bool refuses(const Row& row) { return row.kind == "blocked" || row.kind == "fails"; }
bool can_be_checked(const Row& row) { return is_on(row) && test::rail_of(row).place != RailPlace::retrieval; }

INSTANTIATE_TEST_SUITE_P(Rails, Conversations, testing::ValuesIn(rows_that(is_on)), name_of);
INSTANTIATE_TEST_SUITE_P(Rails, Refusals, testing::ValuesIn(rows_that(refuses)), name_of);
INSTANTIATE_TEST_SUITE_P(Rails, Checks, testing::ValuesIn(rows_that(can_be_checked)), name_of);
INSTANTIATE_TEST_SUITE_P(Rails, Off, testing::ValuesIn(rows_that(is_off)), name_of);

TEST(Rails, each_has_its_rows) {
  std::set<std::string> there;
  for (const Row& row : test::all_rows()) {
    there.insert(std::string(test::rail_of(row).flow) + ": " + row.kind);
    EXPECT_TRUE((std::set<std::string>{"on", "off", "blocked", "altered", "fails"}.contains(row.kind))) << row.kind;
  }
  for (const BuiltInRail& rail : built_in_rails()) {
    std::vector<std::string> kinds = {"on", "off"};
    if (!rail.exception.empty()) kinds.emplace_back("blocked");
    if (rail.alters) kinds.emplace_back("altered");
    if (!rail.task.empty()) kinds.emplace_back("fails");
    for (const std::string& kind : kinds)
      EXPECT_TRUE(there.contains(std::string(rail.flow) + ": " + kind)) << rail.flow << " has no row \"" << kind << '"';
  }
}

TEST(BotTexts, are_chosen_by_the_seed_of_the_body) {
  std::string texts = "define bot refuse to respond\n";
  for (int i = 0; i < 7; ++i) texts += fmt::format("  \"text {}\"\n", i);
  test::Serving serving;
  serving.serve(test::configuration_of({{"b.yml", R"(rails:
  config: {regex_detection: {input: {patterns: [forbidden]}}}
  input: {flows: [regex check input]}
)"},
                                        {"r.co", texts}}),
                [](web::Call&, const test::Asked&, int) { return web::Failure{500, "nobody asks"}; });
  for (const int seed : {0, 3, 10, 3}) {
    const auto reply = serving.post(
        "/v1/chat/completions",
        fmt::format(R"({{"config_id":"c","seed":{},"messages":[{{"role":"user","content":"forbidden"}}]}})", seed));
    EXPECT_TRUE(reply.body.contains(fmt::format("\"text {}\"", seed % 7))) << reply.body;
  }
}

}  // namespace
}  // namespace stackgate::guardrail
