// Valid sources, changed at random: whatever comes of them is compiled or told about. And sources that are made to be
// slow.
#include <chrono>

#include <gtest/gtest.h>

#include "tests/guardrail/colang/listing.hpp"
#include "tests/support/dice.hpp"

namespace stackgate::guardrail::colang {
namespace {

using namespace test;

constexpr std::string_view valid = R"(define user greet
  "hi"

define bot greet
  "Hi $name, {{ x }}!"

define parallel extension flow f
  """What it does."""
  priority 0.9
  user greet or user "hello"
  # The name.
  $name = ...
  $r = execute find(text=$user_message, n=[1, 2],
    k='x')
  if $r is None or len($r) < 2:
    bot greet "Hi"
    stop
  else if not $r["a"].b
    do g $model=x
  else
    return $r

define subflow g
  $i = 0
  while $i < 3
    do $flows[$i]
    $i += 1
    break
  when user ...
    bot ...
  else when event E(x="...")
    create event F(message=$i)
    goto again
  label again
  any
    user a
    bot b
)";

std::string mutated(std::string text, testing::Dice& dice) {
  static constexpr std::string_view pieces[] = {"\"",  "'",     "\n",   "  ",     "$",       "(",
                                                ")",   "{{",    "else", "when",   "define ", "\t",
                                                "...", "user ", "\xC3", "\"\"\"", "goto ",   " or "};
  for (std::size_t changes = 1 + dice.roll(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = dice.roll(text.size());
    const std::size_t length = std::min(text.size() - at, 1 + dice.roll(dice.chance(20) ? 60 : 3));
    switch (dice.roll(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, dice.pick(pieces));
        break;
      case 2:
        text.insert(dice.roll(text.size()), text.substr(at, length));
        break;
      default:
        text[at] = static_cast<char>(dice.roll(256));
        break;
    }
  }
  return text;
}

TEST(Mutations, are_compiled_or_told_about) {
  testing::Dice dice(20261124);
  std::size_t faulty = 0;
  for (int run = 0; run < 3000; ++run) {
    const std::vector<Source> sources = {{.name = "rails.co", .text = mutated(std::string(valid), dice)}};
    const auto out = compile(sources);
    if (validate::has_errors(out.findings)) ++faulty;
    for (const auto& finding : out.findings) {
      ASSERT_FALSE(finding.problem.empty() || finding.fix.empty()) << sources[0].text;
      ASSERT_LE(finding.offset, sources[0].text.size());
    }
    for (const Flow& flow : out.program.flows) {
      ASSERT_EQ(flow.code.back().op, Op::end) << sources[0].text;
      for (const Instruction& each : flow.code) ASSERT_TRUE(each.op == Op::call || each.target < flow.code.size());
    }
    EXPECT_EQ(list_findings(compile(sources).findings), list_findings(out.findings));
  }
  EXPECT_GT(faulty, 1000);
  EXPECT_LT(faulty, 3000);
}

std::string many(std::string_view part, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += part;
  return out;
}

TEST(Sources, that_are_made_to_be_slow) {
  constexpr std::size_t line = 65'000;
  constexpr std::size_t file = 250'000;
  const std::string lines[] = {many("(", line),
                               many("\\'", line),
                               many("' ", line),
                               many("a=1,", line),
                               "execute a(" + many("b,", line),
                               "user " + many("a or user ", line),
                               "do g " + many("$a=1 ", line),
                               "$x = " + many("(", line),
                               "$x = " + many("$a + ", line),
                               "bot \"" + many("$a", line) + "\"",
                               "bot \"" + many("{{ x }}", line) + "\"",
                               "if " + many("not ", line)};
  for (const std::string& each : lines) {
    std::string text = "define flow f\n";
    while (text.size() < file) text += "  " + each + "\n";
    const auto begin = std::chrono::steady_clock::now();
    (void)compile_one(text.substr(0, file));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << each.substr(0, 20);
  }
  const std::string parts[] = {
      "define flow\n  user x\n", "  bot some unknown message\n",      "  bad statement\n", "  goto a\n",
      "  label a\n  goto a\n",   "  if $x\n    $x = 1\n    goto a\n", "  \"\"\"\n",        "define user a\n  \"b\"\n"};
  for (const std::string_view each : parts) {
    const std::string text = "define flow f\n  label a\n" + many(each, file - 100);
    const auto begin = std::chrono::steady_clock::now();
    (void)compile_one(text);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << each;
  }
}

}  // namespace
}  // namespace stackgate::guardrail::colang
