#include "services/guardrail/detect/patterns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/guardrail/detect/match_bound.hpp"

namespace stackgate::guardrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Patterns patterns(std::vector<std::string> sources, bool case_insensitive = false) {
  return *Patterns::compile({.patterns = std::move(sources), .case_insensitive = case_insensitive}, "p");
}

TEST(Patterns, match_and_are_told_apart) {
  const Patterns some = patterns({"secret", "\\bSKU-[0-9]+", "é+"});
  EXPECT_THAT(some.matching("a Secret"), IsEmpty());
  EXPECT_THAT(some.matching("éé, top secret"), ElementsAre(0, 2));
  EXPECT_THAT(patterns({"secret"}, true).matching("a SECRET"), ElementsAre(0));
  EXPECT_THAT(patterns({}).matching("a"), IsEmpty());
}

TEST(Patterns, redact_every_match) {
  const Patterns some = patterns({"b+", "abc", "c\\b", "\\b"});
  const std::string_view text = "abc bb c é";
  EXPECT_EQ(replaced(text, some.find(text), [](const Span&) { return "_"; }), "_ _ _ é");
}

TEST(Patterns, that_are_not_served_are_told_all_at_once) {
  const auto made = Patterns::compile({.patterns = {"a(?=b)", "ok", "[z", "", "x*", "(a)\\1"}}, "rails.x.input");
  ASSERT_FALSE(made);
  ASSERT_EQ(made.error().size(), 5U);
  EXPECT_EQ(made.error()[0].path, "rails.x.input.patterns[0]");
  EXPECT_EQ(made.error()[0].value, "a(?=b)");
  EXPECT_THAT(made.error()[0].problem, HasSubstr("invalid perl operator: (?="));
  EXPECT_THAT(made.error()[1].problem, HasSubstr("missing ]: [z"));
  EXPECT_THAT(made.error()[2].problem, HasSubstr("is empty"));
  EXPECT_THAT(made.error()[3].problem, HasSubstr("matches the empty text"));
  EXPECT_THAT(made.error()[4].problem, HasSubstr("invalid escape sequence: \\1"));
  EXPECT_FALSE(Patterns::compile({.patterns = {"((a{100}){100}){100}"}}, "p")) << "too large a program";
  EXPECT_FALSE(Patterns::compile({.patterns = std::vector<std::string>(201, "a")}, "p"));
}

TEST(Patterns, take_linear_time) {
  const Patterns some = patterns({"(a|a?)+b", "(x+x+)+y"});
  EXPECT_THAT(some.matching(std::string(200'000, 'a') + std::string(200'000, 'x')), IsEmpty());
}

TEST(LongestMatch, is_never_too_short) {
  struct Length {
    const char* expression;
    std::size_t least;  // bytes of the longest match
  };
  for (const Length& each :
       {Length{"abc", 3}, Length{"a|bcd", 3}, Length{"(ab){2,4}", 8}, Length{"[^]x]é?", 6}, Length{"\\d{3}-?", 4},
        Length{"(?i:k)", 3}, Length{"(?P<n>.){5}", 20}, Length{"\\x{1F600}a", 5}, Length{"\\p{Greek}\\pL", 8},
        Length{"[[:alpha:]-]{2}", 2}, Length{"(?i)ab", 2}, Length{"^a$", 1}, Length{"a{2}{3}", 6}}) {
    const auto longest = longest_match(each.expression);
    ASSERT_TRUE(longest) << each.expression;
    EXPECT_GE(*longest, each.least) << each.expression;
    EXPECT_LE(*longest, 4 * each.least + 40) << each.expression;
  }
  for (const char* endless : {"a*", "a+", "a{3,}", "(ab+)?c", "[x", "(", "a{2", "\\Qa*\\E", "((a*))"})
    EXPECT_FALSE(longest_match(endless)) << endless;
}

}  // namespace
}  // namespace stackgate::guardrail
