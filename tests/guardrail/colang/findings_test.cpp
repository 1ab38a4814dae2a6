// Faulty sources and what is said about them.
#include <gtest/gtest.h>

#include "tests/guardrail/colang/listing.hpp"

namespace stackgate::guardrail::colang {
namespace {

using namespace test;

struct Faulty {
  const char* name;
  const char* text;
  const char* findings;
};
void PrintTo(const Faulty& faulty, std::ostream* out) { *out << faulty.name; }

class Findings : public ::testing::TestWithParam<Faulty> {};

TEST_P(Findings, are_told) {
  const KnownNames names{.action = [](std::string_view name) { return name == "known"; }, .actions = {"known"}};
  const auto out = compile_one(GetParam().text, names);
  EXPECT_EQ(list_findings(out.findings), GetParam().findings);
  for (const auto& each : out.findings) EXPECT_FALSE(each.fix.empty()) << each.problem;
}

INSTANTIATE_TEST_SUITE_P(
    All, Findings,
    ::testing::Values(
        Faulty{"none", "define flow f\n  execute known\n", ""}, Faulty{"empty", "", ""},
        Faulty{"unknown_statement", "define flow f\n  bott hi\n  frobnicate\n  stop\n",
               "rails.co:2:3 colang-syntax: \"bott\" begins no statement; did you mean \"bot\"?\n"
               "rails.co:3:3 colang-syntax: \"frobnicate\" begins no statement\n"},
        Faulty{"all_at_once",
               "define user\n  \"x\"\n\ndefine thing x\n  \"y\"\n\ndefine flow f\n  execute\n  $ = 1\n  if\n    stop\n "
               " bot \"x\n",
               "rails.co:1:12 colang-syntax: the name of the user's intent is missing or is no name\n"
               "rails.co:4:8 colang-syntax: \"thing\" cannot be defined\n"
               "rails.co:8:10 colang-syntax: a name is missing behind \"execute\"\n"
               "rails.co:9:3 colang-syntax: a variable's name is missing\n"
               "rails.co:10:5 colang-syntax: an expression is missing behind \"if\"\n"
               "rails.co:12:7 colang-syntax: the text has no closing quotation mark\n"},
        Faulty{
            "undefined_names",
            "define user greet\n  \"hi\"\n\ndefine bot greet\n  \"Hi\"\n\ndefine subflow check it\n  pass\n\n"
            "define flow f\n  user gret\n  bot greeet\n  do check_it\n  execute know\n  goto there\n",
            "rails.co:11:3 colang-intent (warning): user intent \"gret\" is not defined; did you mean \"greet\"?\n"
            "rails.co:12:3 colang-message (warning): bot message \"greeet\" is not defined: the model writes it; did "
            "you mean \"greet\"?\n"
            "rails.co:13:3 colang-flow: there is no flow \"check_it\"; did you mean \"check it\"?\n"
            "rails.co:14:3 colang-action: there is no action \"know\"; did you mean \"known\"?\n"
            "rails.co:15:3 colang-label: this flow has no label \"there\"\n"},
        Faulty{"variables",
               "define flow f\n  if $user_mesage == \"x\" or $user_mesage\n    bot \"$answer $bot_message\"\n",
               "rails.co:2:6 colang-variable (warning): nothing sets $user_mesage here: it is None unless an action or "
               "the client sets it; did you mean \"user_message\"?\n"
               "rails.co:3:5 colang-variable (warning): nothing sets $answer here: it is None unless an action or the "
               "client sets it\n"},
        Faulty{"expressions",
               "define flow f\n  $a = 1 +\n  $b = user_message\n  $c = $a | length\n  if $a = 1\n    stop\n"
               "  $d = f\"x{$a}\"\n  $e = lenn($a)\n  $g = $a is Nonne\n  $h = \"x\n  $k = $a && $b\n",
               "rails.co:2:11 colang-expression: the expression cannot be read: the template ends too early\n"
               "rails.co:3:8 colang-expression: \"user_message\" is no variable, function or word of expressions\n"
               "rails.co:4:11 colang-expression: \"|\" is not supported\n"
               "rails.co:5:9 colang-expression: \"=\" assigns and cannot stand in an expression\n"
               "rails.co:7:8 colang-expression: texts of the form f\"…\" are not supported\n"
               "rails.co:8:8 colang-expression: there is no function \"lenn\"; did you mean \"len\"?\n"
               "rails.co:9:14 colang-expression: \"Nonne\" is no variable, function or word of expressions\n"
               "rails.co:10:8 colang-expression: the text has no closing quotation mark\n"
               "rails.co:11:11 colang-expression: \"&\" is not supported\n"},
        Faulty{"arguments",
               "define flow f\n  execute known(a=1, a=2, b=word, c=)\n  create event E(1)\n  execute known(a=1\n",
               "rails.co:2:24 colang-syntax: argument \"a\" is given twice\n"
               "rails.co:2:29 colang-expression (warning): \"word\" is taken as a text\n"
               "rails.co:2:35 colang-syntax: argument \"c\" has no value\n"
               "rails.co:3:18 colang-syntax: a value of an event has no name\n"
               "rails.co:4:16 colang-syntax: the parenthesis is not closed\n"},
        Faulty{"indentation", "define flow f\n  if $user_message\n      bot x\n    bot y\n  stop\n    bot z\n\n",
               "rails.co:3:7 colang-message (warning): bot message \"x\" is not defined: the model writes it\n"
               "rails.co:4:5 colang-indentation: the line is indented less than its block and more than what the block "
               "belongs to\n"
               "rails.co:4:5 colang-message (warning): bot message \"y\" is not defined: the model writes it\n"
               "rails.co:6:5 colang-indentation: the line is indented more than the statement above, which holds no "
               "others\n"},
        Faulty{"tabs", "define flow f\n\tstop\n\ndefine flow g\n  stop\n",
               "rails.co:5:1 colang-indentation: tabs and spaces are mixed in the indentation of this file\n"},
        Faulty{"no_break_space", "define flow f\n \xC2\xA0stop\n",
               "rails.co:2:2 colang-indentation: the line is indented with a no-break space\n"},
        Faulty{"outside", "bot hi\nuser x\ndefine flow f\n  stop\n",
               "rails.co:1:1 colang-syntax: this stands outside of a definition\n"},
        Faulty{"imports", "import core_rails\ndefine flow f\n  stop\n",
               "rails.co:1:1 colang-syntax: \"import\" is not supported\n"},
        Faulty{"colang_2", "import core\n\nflow main\n  match UtteranceUserAction.Finished()\n  bot say \"x\"\n",
               "rails.co:1:1 colang-version: \"import core\" is Colang 2; this service reads Colang 1.0\n"},
        Faulty{"colang_2_statements", "define flow f\n  $x = await SomeAction()\n  await y\n",
               "rails.co:2:3 colang-version: \"$x =\" is Colang 2; this service reads Colang 1.0\n"},
        Faulty{"duplicates",
               "define flow f\n  stop\n\ndefine subflow f\n  stop\n\ndefine bot b\n  \"x\"\n\ndefine bot b\n  \"y\"\n",
               "rails.co:4:1 colang-duplicate: flow \"f\" is defined at rails.co:1:1, too\n"
               "rails.co:10:1 colang-duplicate (warning): bot message \"b\" is defined at rails.co:7:1, too; this one "
               "counts\n"},
        Faulty{"empty_definitions", "define user u\n\ndefine bot b\n\ndefine flow f\n\ndefine subflow\n  pass\n",
               "rails.co:1:1 colang-intent (warning): user intent \"u\" has no examples\n"
               "rails.co:3:1 colang-message (warning): bot message \"b\" has no text: the model writes it\n"
               "rails.co:5:1 colang-syntax: the flow has no statements\n"
               "rails.co:7:1 colang-syntax: a subflow needs a name\n"},
        Faulty{
            "unreachable",
            "define flow f\n  if $user_message\n    stop\n    execute known\n  else\n    return\n  execute known\n",
            "rails.co:4:5 colang-unreachable (warning): this is never reached: the statement above leaves the block\n"
            "rails.co:7:3 colang-unreachable (warning): this is never reached: the statement above leaves the block\n"},
        Faulty{"never_starts", "define flow\n  execute known\n",
               "rails.co:1:1 colang-unreachable (warning): this flow never starts: it has no name and waits for "
               "nothing\n"},
        Faulty{"endless",
               "define flow f\n  $i = 0\n  while $i < 3\n    $j = 1\n  while True\n    $j = 2\n  while True\n    user "
               "...\n"
               "  label x\n  $k = 1\n  goto x\n",
               "rails.co:3:3 colang-loop: this loop does not end: nothing in it waits, leaves it or sets a variable of "
               "its condition\n"
               "rails.co:5:3 colang-loop: this loop does not end: nothing in it waits, leaves it or sets a variable of "
               "its condition\n"
               "rails.co:11:3 colang-loop: this loop does not end: nothing in it waits or leaves it\n"},
        Faulty{"endless_with_an_action", "define flow f\n  while $user_message\n    $j = execute known\n",
               "rails.co:2:3 colang-loop: this loop does not end: nothing in it waits, leaves it or sets a variable of "
               "its condition\n"},
        Faulty{"ends_by_an_action", "define flow f\n  $j = 1\n  while $j\n    $j = execute known\n", ""},
        Faulty{"told_once", "define flow f\n  bot \"$answer\"\n  bot \"$answer\"\n  bot stop\n",
               "rails.co:2:3 colang-variable (warning): nothing sets $answer here: it is None unless an action or the "
               "client sets it\n"},
        Faulty{"recursion",
               "define subflow a\n  do b\n\ndefine subflow b\n  execute known\n  do a\n\ndefine subflow c\n  user "
               "...\n  do c\n",
               "rails.co:6:3 colang-loop: flow \"a\" calls itself before it waits for anything\n"},
        Faulty{
            "texts",
            "define bot b\n  \"{{ x\"\n  unquoted\n  \"a\" \"b\"\n\ndefine user u\n  \xE2\x80\x9Chi\xE2\x80\x9D\n",
            "rails.co:2:3 colang-text: the text cannot be read as a template: the tag has no \"}}\"\n"
            "rails.co:3:3 colang-syntax: a bot's message is a text\n"
            "rails.co:4:6 colang-syntax: \"\"b\"\" stands behind the text\n"
            "rails.co:7:3 colang-syntax: the text is in “, which is no quotation mark of Colang\n"
            "rails.co:7:3 colang-intent (warning): this example is not in quotation marks; it is taken as it stands\n"},
        Faulty{"words_of_other_languages",
               "define flow f\n  if $user_message\n    stop\n  elif $user_message\n    stop\n  for $x in $y\n    "
               "stop\n  else\n    stop\n  break\n",
               "rails.co:4:3 colang-syntax: there is no \"elif\"\n"
               "rails.co:6:3 colang-syntax: there is no \"for\"\n"
               "rails.co:8:3 colang-syntax: there is no \"if\" or \"when\" in the block above that this \"else\" "
               "belongs to\n"
               "rails.co:10:3 colang-syntax: \"break\" stands outside of a \"while\"\n"},
        Faulty{"parts_of_variables", "define flow f\n  $a.b = 1\n  $a == 1\n",
               "rails.co:2:5 colang-syntax: a part of a variable cannot be assigned\n"
               "rails.co:3:6 colang-syntax: \"=\" is missing behind $a\n"},
        Faulty{"no_text", "define flow f\n  stop \xFF\n", "rails.co:2:8 colang-syntax: the file is no UTF-8 text\n"},
        Faulty{"columns_are_characters", "define flow f\n  bot \"äöü\" x\n",
               "rails.co:2:13 colang-syntax: \"x\" is left over at the end of the statement\n"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(Findings, of_limits) {
  std::string deep = "define flow f\n";
  for (int i = 1; i <= 40; ++i) deep += std::string(2 * static_cast<std::size_t>(i), ' ') + "if $user_message\n";
  deep += std::string(90, ' ') + "stop\n";
  EXPECT_EQ(list_findings(compile_one(deep).findings), "rails.co:34:67 colang-limit: blocks are nested too deeply\n");

  std::string flows;
  for (int i = 0; i < 5; ++i) flows += fmt::format("define flow f{}\n  stop\n", i);
  const std::vector<Source> sources = {{"a.co", flows}, {"b.co", "define flow g\n  stop\n"}};
  EXPECT_EQ(list_findings(compile(sources, {}, {.flows = 4}).findings),
            "a.co:9:1 colang-limit: there are more than 4 flows\nb.co:1:1 colang-limit: there are more than 4 flows\n");
  EXPECT_EQ(list_findings(compile(sources, {}, {.files = 1}).findings),
            "b.co:1:1 colang-limit: there are more than 1 files\n");
  EXPECT_EQ(list_findings(compile(sources, {}, {.file_bytes = 50}).findings),
            "a.co:1:1 colang-limit: the file has more than 50 bytes\n");
  EXPECT_EQ(list_findings(compile(sources, {}, {.instructions = 3}).findings),
            "a.co:3:1 colang-limit: the flows have more than 3 steps together\n");

  std::string faults = "define flow f\n";
  for (int i = 0; i < 1000; ++i) faults += "  ?\n";
  const auto many = compile_one(faults).findings;
  ASSERT_EQ(many.size(), 201);
  EXPECT_EQ(many.back().problem, "there are more than 200 findings; the others are not listed");
}

}  // namespace
}  // namespace stackgate::guardrail::colang
