// Statements and the instructions that they become.
#include <gtest/gtest.h>

#include "tests/guardrail/colang/listing.hpp"

namespace stackgate::guardrail::colang {
namespace {

using namespace test;

struct Lowered {
  const char* name;
  const char* body;  // of `define flow f`
  const char* code;
};
void PrintTo(const Lowered& lowered, std::ostream* out) { *out << lowered.name; }

class Statements : public ::testing::TestWithParam<Lowered> {};

TEST_P(Statements, become_instructions) {
  const auto out = compile_one(std::string("define subflow g\n  pass\n\ndefine flow f\n") + GetParam().body);
  EXPECT_EQ(list_findings(out.findings, false), "");
  const Flow* flow = out.program.find_flow("f");
  ASSERT_NE(flow, nullptr);
  EXPECT_EQ(list_code(*flow), GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(
    All, Statements,
    ::testing::Values(
        Lowered{"user_and_bot", "  user ask  prices\n  bot tell prices\n",
                "0 wait user ask prices\n1 bot tell prices\n2 end\n"},
        Lowered{"anything", "  user ...\n  bot ...\n", "0 wait user ...\n1 bot ...\n2 end\n"},
        Lowered{"begins_with_what_the_bot_says", "  bot ...\n  execute check\n",
                "0 wait bot ...\n1 execute check()\n2 end\n"},
        Lowered{"called_by_name_says_at_once", "  bot refuse\n  stop\n", "0 bot refuse\n1 stop\n2 end\n"},
        Lowered{"texts", "  user \"hi\"\n  bot \"Hello\"\n  bot greet \"Hi $name\"\n",
                "0 wait user hi\n1 bot  'Hello'\n2 bot greet 'Hi $name'\n3 end\n"},
        Lowered{"a_variable_is_said", "  user a\n  bot $answer\n", "0 wait user a\n1 bot  '$answer'\n2 end\n"},
        Lowered{"alternatives", "  user a or user b\n  bot x\n",
                "0 wait any [user a -> 1] [user b -> 1]\n1 bot x\n2 end\n"},
        Lowered{"any_of_a_block", "  any\n    user a\n    event E(k=1)\n  bot x\n",
                "0 wait any [user a -> 1] [event E(k=1) -> 1]\n1 bot x\n2 end\n"},
        Lowered{"execute", "  execute a\n  execute wolfram alpha request(query=$q, 3)\n  $r = execute b(x=\"1, 2\")\n",
                "0 execute a()\n1 execute wolfram alpha request(query=$q, 3)\n2 $r = execute b(x=\"1, 2\")\n3 end\n"},
        Lowered{"over_several_lines",
                "  execute a(\n    x=1,  # one\n    y=[1,\n       2]\n  )\n  $z = 1 + \\\n    2\n",
                "0 execute a(x=1, y=[1, 2])\n1 $z = 1 + 2\n2 end\n"},
        Lowered{"assign", "  $a = 1\n  $a += 2 * 3\n  $b = $a[\"x\"].y\n",
                "0 $a = 1\n1 $a = $a + (2 * 3)\n2 $b = $a[\"x\"].y\n3 end\n"},
        Lowered{"generate", "  # The user's name.\n  # Or \"nobody\".\n  $name = ...\n",
                "0 $name = ... 'The user's name.\nOr \"nobody\".'\n1 end\n"},
        Lowered{"call", "  do g\n  do $flows[$i]\n  do g $model=judge $n=$x\n  do g(k=1)\n  $r = do g\n",
                "0 do g\n1 do $flows[$i]\n2 $model = \"judge\"\n3 $n = $x\n4 do g\n5 $k = 1\n6 do g\n7 do g\n8 $r = "
                "$_returned\n9 end\n"},
        Lowered{
            "conditions", "  if $a:\n    bot x\n  else if not $b\n    bot y\n  else\n    bot z\n  bot w\n",
            "0 if $a else -> 3\n1 bot x\n2 -> 7\n3 if not $b else -> 6\n4 bot y\n5 -> 7\n6 bot z\n7 bot w\n8 end\n"},
        Lowered{
            "loop",
            "  $i = 0\n  while $i < 3\n    if $i == 2\n      break\n    if $i == 1\n      continue\n    $i = $i + 1\n",
            "0 $i = 0\n1 if $i < 3 else -> 8\n2 if $i == 2 else -> 4\n3 -> 8\n4 if $i == 1 else -> 6\n5 -> 1\n6 $i = "
            "$i + 1\n7 -> 1\n8 end\n"},
        Lowered{"choice", "  when user a or user b\n    bot x\n  else when E\n    bot y\n  bot z\n",
                "0 wait any [user a -> 1] [user b -> 1] [event E() -> 3]\n1 bot x\n2 -> 4\n3 bot y\n4 bot z\n5 end\n"},
        Lowered{"events", "  event E(text=\"...\", n=1)\n  create event F(message=$m)\n  new event G\n",
                "0 wait event E(n=1)\n1 create F(message=$m)\n2 create G()\n3 end\n"},
        Lowered{"labels", "  user a\n  label again\n  bot x\n  user b\n  goto again\n",
                "0 wait user a\n1 bot x\n2 wait user b\n3 -> 1\n4 end\n"},
        Lowered{"returns", "  if $x\n    return 1\n  stop\n",
                "0 if $x else -> 3\n1 $_returned = 1\n2 end\n3 stop\n4 end\n"},
        Lowered{"comments", "  \"\"\"Says.\"\"\"\n  # one\n  bot it's fine # two\n", "0 bot it's fine\n1 end\n"},
        Lowered{"bare_words_are_texts", "  execute a(source=input)\n", "0 execute a(source=\"input\")\n1 end\n"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(Program, of_definitions) {
  const auto out = compile_one(
      "define user greet\n  \"hi\"\n  'hello \"you\"'\n\n"
      "define user greet\n  \"good \\\"day\\\"\"\n\n"
      "define bot greet\n  \"Hi $name, {{ count }}!\"\n  \"Costs $5.\"\n\n"
      "define parallel extension flow p\n  \"\"\"What it\n  is.\"\"\"\n  priority 0.9\n  bot greet\n  execute x\n\n"
      "define flow\n  user \"hi\"\n  bot greet\n\n"
      "define subflow s\n  meta {\"priority\": 2}\n  pass\n");
  EXPECT_EQ(list_findings(out.findings, false), "");
  ASSERT_EQ(out.program.user_intents.size(), 1);
  EXPECT_EQ(out.program.user_intents[0].examples, (std::vector<std::string>{"hi", "hello \"you\"", "good \"day\""}));
  const BotMessage* message = out.program.find_bot_message("greet");
  ASSERT_NE(message, nullptr);
  ASSERT_EQ(message->texts.size(), 2);
  auto context = std::make_shared<jinja::Dict>();
  context->set("name", "{{ count }}");
  context->set("count", std::int64_t{3});
  const jinja::Value variables{jinja::DictPtr(std::move(context))};
  EXPECT_EQ(message->texts[0].render_marked(variables)->text, "Hi {{ count }}, 3!");
  EXPECT_EQ(message->texts[1].render_marked(variables)->text, "Costs $5.");
  const Flow* p = out.program.find_flow("p");
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->kind, FlowKind::extension);
  EXPECT_TRUE(p->parallel);
  EXPECT_EQ(p->priority, 0.9);
  EXPECT_EQ(p->description, "What it\nis.");
  EXPECT_EQ(list_code(*p), "0 wait bot greet\n1 execute x()\n2 end\n");
  const Flow* unnamed = out.program.find_flow("flow at rails.co:19");
  ASSERT_NE(unnamed, nullptr);
  EXPECT_EQ(list_code(*unnamed), "0 wait user greet\n1 bot greet\n2 end\n");
  const Flow* s = out.program.find_flow("s");
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->kind, FlowKind::subflow);
  EXPECT_EQ(s->priority, 2);
  EXPECT_EQ(out.program.find_flow("t"), nullptr);
}

TEST(Program, later_files_override_what_is_built_in) {
  const std::vector<Source> sources = {
      {"library.co", "define bot refuse\n  \"No.\"\n\ndefine flow check\n  bot refuse\n", true},
      {"rails.co", "define bot refuse\n  \"Sorry.\"\n\ndefine flow check\n  stop\n"}};
  const auto out = compile(sources);
  EXPECT_EQ(list_findings(out.findings), "");
  EXPECT_EQ(out.program.find_bot_message("refuse")->sources, std::vector<std::string>{"Sorry."});
  ASSERT_EQ(out.program.flows.size(), 1);
  EXPECT_EQ(list_code(out.program.flows[0]), "0 stop\n1 end\n");
}

TEST(Program, of_what_is_built_in_is_the_same_each_time) {
  const auto shown = [](std::string_view body) {
    const std::vector<Source> sources = {{"library.co", fmt::format("define flow f\n{}", body), true},
                                         {"rails.co", "define flow g\n  user \"hi\"\n  do f\n"}};
    const auto out = compile(sources);
    std::string text = list_findings(out.findings);
    for (const Flow& flow : out.program.flows) text += list_code(flow);
    return text;
  };
  const std::string good = shown("  bot \"$x\"\n  $y = 1 + 2\n");
  EXPECT_EQ(good, "0 bot  '$x'\n1 $y = 1 + 2\n2 end\n0 wait user hi\n1 do f\n2 end\n");
  const std::string faulty = shown("  $y = 1 +\n  bot \"$x\"\n");
  EXPECT_TRUE(faulty.starts_with("library.co:2:11 colang-expression")) << faulty;
  EXPECT_EQ(shown("  bot \"$x\"\n  $y = 1 + 2\n"), good);
  EXPECT_EQ(shown("  $y = 1 +\n  bot \"$x\"\n"), faulty);
}

TEST(Program, values_of_expressions) {
  auto context = std::make_shared<jinja::Dict>();
  context->set("n", std::int64_t{3});
  context->set("nothing", jinja::None());
  context->set("word", "Word");
  const jinja::Value variables{jinja::DictPtr(std::move(context))};
  for (const auto& [source, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"$n + 1 == 4", "True"},
           {"$nothing is None", "True"},
           {"$not_set is None and not $not_set and $not_set == None", "True"},
           {"$n is not None and not False", "True"},
           {"len($word) + abs(-2)", "6"},
           {"\"ord\" in $word.lower() or 'x$n' == \"x\"", "True"},
           {"str($n) + \"$\"", "3$"},
           {"int(\"12\") // 5", "2"},
           {"max(1, $n, 2)", "3"},
           {"min([4, 2])", "2"},
           {"round(2.4)", "2"},
           {"sorted([2, 1], reverse=True)[0]", "2"},
           {"all([1, $n])", "True"},
           {"any([0, None])", "False"},
           {"bool($nothing)", "False"},
           {"{\"a\": $n}[\"a\"]", "3"},
           {"sum([1, 2]) if $n > 2 else 0", "3"}}) {
    const auto out = compile_one(std::string("define flow f\n  $x = ") + source + "\n");
    ASSERT_EQ(list_findings(out.findings, false), "") << source;
    const auto value = evaluate(*out.program.flows[0].code[0].expression, variables);
    ASSERT_TRUE(value) << source << ": " << value.error().message;
    auto result = std::make_shared<jinja::Dict>();
    result->set("v", *value);
    EXPECT_EQ(jinja::Template::parse("{{ v }}")->render_marked(jinja::Value(jinja::DictPtr(result)))->text, expected)
        << source;
  }
}

TEST(Program, tells_which_expressions_need_no_computing) {
  const auto expression = [](std::string_view source) {
    const auto out = compile_one(fmt::format("define flow f\n  $x = {}\n", source));
    return *out.program.flows[0].code[0].expression;
  };
  EXPECT_EQ(expression("\"a\" + \"$b\"").constant.value().bytes(), "a$b");
  EXPECT_FALSE(expression("$a").constant);
  EXPECT_TRUE(expression("$a").is_variable);
  for (const char* computed : {"$a.b", "not $a", "$a + $b", "len($a)", "1 / 0"}) {
    EXPECT_FALSE(expression(computed).constant) << computed;
    EXPECT_FALSE(expression(computed).is_variable) << computed;
  }
}

TEST(Program, tells_what_expressions_read) {
  const auto out = compile_one("define flow f\n  $x = $a.b + $c[$a] + \"$d\"\n");
  EXPECT_EQ(out.program.flows[0].code[0].expression->reads, (std::vector<std::string>{"a", "c"}));
}

}  // namespace
}  // namespace stackgate::guardrail::colang
