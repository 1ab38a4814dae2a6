#include "services/guardrail/library/library.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace stackgate::guardrail {
namespace {

using colang::Flow;
using colang::Instruction;
using colang::Op;

// As a user's own files: then warnings are told, too.
std::vector<colang::Source> as_users() {
  std::vector<colang::Source> out(library_sources().begin(), library_sources().end());
  for (colang::Source& source : out) source.built_in = false;
  return out;
}

bool is_action(std::string_view name) {
  return std::ranges::any_of(built_in_rails(), [&](const BuiltInRail& rail) { return rail.action == name; });
}

TEST(Library, compiles_without_a_finding) {
  const auto sources = as_users();
  const auto out = colang::compile(sources, {.action = is_action});
  for (const auto& finding : out.findings) ADD_FAILURE() << finding.path << ": " << validate::to_line(finding);
  std::set<std::string_view> flows;
  for (const BuiltInRail& rail : built_in_rails()) EXPECT_TRUE(flows.insert(rail.flow).second) << rail.flow;
  for (const Flow& flow : out.program.flows) EXPECT_NE(find_built_in_rail(flow.name), nullptr) << flow.name;
}

class BuiltInRails : public ::testing::TestWithParam<BuiltInRail> {};

TEST_P(BuiltInRails, are_as_the_table_says) {
  const BuiltInRail& rail = GetParam();
  const auto out = colang::compile(library_sources());
  const Flow* flow = out.program.find_flow(rail.flow);
  ASSERT_NE(flow, nullptr);
  EXPECT_EQ(find_built_in_rail(rail.flow)->action, rail.action);
  std::set<std::string> events, said, altered;
  bool stops = false;
  const Instruction* action = nullptr;
  for (const Instruction& each : flow->code) {
    if (each.op == Op::create_event) events.insert(each.name);
    if (each.op == Op::bot) {
      EXPECT_NE(out.program.find_bot_message(each.name), nullptr) << each.name;
      said.insert(each.name);
    }
    if (each.op == Op::stop) stops = true;
    if (each.op == Op::execute) action = &each;
    for (const char* message : {"user_message", "bot_message", "relevant_chunks"})
      if (each.variable == message) altered.insert(message);
  }
  ASSERT_NE(action, nullptr);
  EXPECT_EQ(action->name, rail.action);
  EXPECT_EQ(events,
            rail.exception.empty() ? std::set<std::string>() : std::set<std::string>{std::string(rail.exception)});
  EXPECT_EQ(stops, !rail.exception.empty());
  EXPECT_TRUE(said.size() == 1 || rail.alters);
  const char* message = rail.place == RailPlace::input    ? "user_message"
                        : rail.place == RailPlace::output ? "bot_message"
                                                          : "relevant_chunks";
  EXPECT_EQ(altered, rail.alters ? std::set<std::string>{message} : std::set<std::string>());
  const bool model = std::ranges::any_of(action->arguments, [](const auto& each) { return each.name == "model"; });
  EXPECT_EQ(model, rail.needs_model);
  const auto& first = flow->code.front();
  EXPECT_EQ(first.op == Op::branch ? first.expression->reads.front() : "", rail.enabled_by);
}

INSTANTIATE_TEST_SUITE_P(All, BuiltInRails, ::testing::ValuesIn(built_in_rails().begin(), built_in_rails().end()),
                         [](const auto& each) {
                           std::string name(each.param.flow);
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

TEST(Library, tells_actions_that_ask_from_those_that_do_not) {
  for (const BuiltInRail& rail : built_in_rails()) {
    EXPECT_EQ(rail.asks, !rail.task.empty() || rail.action.starts_with("jailbreak_") || rail.action == "check_topic")
        << rail.flow;
    EXPECT_TRUE(is_built_in_action(rail.action));
    EXPECT_FALSE(rail.own_prompt && rail.task.empty()) << rail.flow;
  }
  EXPECT_TRUE(is_built_in_action("create_event"));
  EXPECT_FALSE(is_built_in_action("pay"));
  EXPECT_EQ(find_built_in_action("pay"), nullptr);
  EXPECT_FALSE(find_built_in_action("self_check_facts")->whole_answer.empty());
}

TEST(Library, gives_way_to_users) {
  std::vector<colang::Source> sources(library_sources().begin(), library_sources().end());
  sources.push_back({.name = "rails.co",
                     .text = "define bot refuse to respond\n  \"Not here.\"\n\n"
                             "define subflow self check input\n  stop\n"});
  const auto out = colang::compile(sources);
  EXPECT_TRUE(out.findings.empty());
  EXPECT_EQ(out.program.find_bot_message("refuse to respond")->sources, std::vector<std::string>{"Not here."});
  EXPECT_EQ(out.program.find_flow("self check input")->code.size(), 2);
  EXPECT_EQ(find_built_in_rail("self check inputs"), nullptr);
}

}  // namespace
}  // namespace stackgate::guardrail
