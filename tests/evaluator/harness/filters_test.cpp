#include "services/evaluator/suite/harness/filters.hpp"

#include <gmock/gmock.h>

namespace stackgate::evaluator::harness {
namespace {

using testing::ElementsAre;
using Function = FilterStep::Function;

std::string found(std::string_view pattern, std::string_view text, std::int64_t select = 0) {
  const FilterStep step{
      .function = Function::regex, .pattern = Pattern::compile(pattern).value(), .group_select = select};
  return filtered({.steps = {step}}, {std::string(text)}, {}).front();
}

TEST(Patterns, find_what_pythons_findall_does) {
  using Lists = std::vector<std::vector<std::string>>;
  const auto all = [](std::string_view pattern, std::string_view text) {
    return Pattern::compile(pattern).value().find_all(text);
  };
  EXPECT_EQ(all("a+", "caat a"), (Lists{{"aa"}, {"a"}}));
  EXPECT_EQ(all("(a)(b)?", "ab a"), (Lists{{"a", "b"}, {"a", ""}}));
  EXPECT_EQ(all("a*", "baac"), (Lists{{""}, {"aa"}, {""}, {""}}));
  EXPECT_EQ(all("^x", "xx"), (Lists{{"x"}}));
  EXPECT_EQ(all("é*", "éa"), (Lists{{"é"}, {""}, {""}}));
}

TEST(Patterns, have_unicodes_classes_and_pythons_ends) {
  EXPECT_EQ(found(R"(is (\w+))", "answer is café."), "café");
  EXPECT_EQ(found(R"(([\w]+)$)", "not here\nthé\n"), "thé");
  EXPECT_EQ(found(R"((?m)(\w+)$)", "first\nsecond"), "first");
  EXPECT_EQ(found(R"(\d+\Z)", "1 2 ٣"), "٣");
  EXPECT_EQ(found(R"(a{,2}b)", "xaab"), "aab");
  EXPECT_EQ(found("[]a]+", "x]a]"), "]a]");
  EXPECT_EQ(Pattern::compile(R"(x\s+y)").value().replace("x\u00a0\u2003y", "z"), "z");
}

TEST(Patterns, replace_as_pythons_sub_does) {
  const auto replaced = [](std::string_view pattern, std::string_view by, std::string_view text,
                           std::size_t count = 0) {
    return Pattern::compile(pattern).value().replace(text, by, count);
  };
  EXPECT_EQ(replaced("(a)(b)", R"(\2\g<1>)", "ab-ab"), "ba-ba");
  EXPECT_EQ(replaced("a", "x", "aaa", 2), "xxa");
  EXPECT_EQ(replaced("a*", "-", "baac"), "-b--c-");
  EXPECT_EQ(replaced("a", R"(\n\9)", "a"), "\n");
}

TEST(Patterns, look_at_what_stands_around_them) {
  EXPECT_EQ(found("(?<=the answer is )(.*)(?=.)", "so the answer is (B)."), "(B)");
  EXPECT_EQ(found(R"(\d+(?=%))", "5 or 12% or 7%", 1), "7");
  EXPECT_EQ(found("(?<=a)b", "b ab"), "b");
  // One character ends a match and begins the next one's surroundings.
  EXPECT_EQ(Pattern::compile("(?<=,).(?=,)").value().replace(",a,b,c", "x"), ",x,x,c");
  EXPECT_EQ(Pattern::compile("(?<=a)(?=b)").value().replace("ab ab", "-"), "a-b a-b");
}

TEST(Patterns, that_re2_does_not_have_say_why) {
  EXPECT_THAT(Pattern::compile("(?<=a*)b").error(), testing::HasSubstr("behind"));
  EXPECT_THAT(Pattern::compile("(?<=a)b|c").error(), testing::HasSubstr("behind"));
  EXPECT_THAT(Pattern::compile("a(?!b)").error(), testing::HasSubstr("ahead"));
  EXPECT_FALSE(Pattern::compile(R"((a)\1)"));
  EXPECT_FALSE(Pattern::compile("(a"));
}

TEST(Filters, regex_takes_a_match_and_of_it_the_first_group_that_has_anything) {
  constexpr std::string_view strict = R"(#### (\-?[0-9\.\,]+))", flexible = R"((-?[$0-9.,]{2,})|(-?[0-9]+))";
  EXPECT_EQ(found(strict, "so 3.\n#### 1,234"), "1,234");
  EXPECT_EQ(found(strict, "1234"), "[invalid]");
  EXPECT_EQ(found(flexible, "1 then 22, so $33.50", -1), "$33.50");
  EXPECT_EQ(found(flexible, "7", -1), "7");
  EXPECT_EQ(found(flexible, "7", 1), "[invalid]");
  EXPECT_EQ(found(R"(A: (.*))", "A:  so \nB"), "so");
}

TEST(Filters, do_what_they_are_called) {
  const auto after = [](Function function, std::vector<std::string> answers) {
    return filtered({.steps = {{.function = function, .k = 2, .mapping = {{"A", "0"}}, .otherwise = "-"}}},
                    std::move(answers), {});
  };
  EXPECT_THAT(after(Function::lowercase, {"ÄB", "C"}), ElementsAre("äb", "c"));
  EXPECT_THAT(after(Function::uppercase, {"äb"}), ElementsAre("ÄB"));
  EXPECT_THAT(after(Function::remove_whitespace, {"  a ", "\nb"}), ElementsAre(" a ", "\nb"));
  EXPECT_THAT(after(Function::map, {"A", "B"}), ElementsAre("0", "-"));
  EXPECT_THAT(after(Function::take_first, {"a", "b"}), ElementsAre("a"));
  EXPECT_THAT(after(Function::take_first_k, {"a", "b", "c"}), ElementsAre("a", "b"));
  EXPECT_THAT(after(Function::take_first_k, {"a"}), ElementsAre("a"));
  EXPECT_THAT(after(Function::majority_vote, {"a", "b", "b", "c"}), ElementsAre("b"));
  EXPECT_THAT(after(Function::majority_vote, {"c", "a", "a", "c"}), ElementsAre("c"));
}

TEST(Filters, know_how_many_answers_they_leave) {
  EXPECT_EQ(left_of({}, 5), 5U);
  EXPECT_EQ(left_of({.steps = {{.function = Function::take_first_k, .k = 3}}}, 5), 3U);
  EXPECT_EQ(
      left_of({.steps = {{.function = Function::take_first_k, .k = 3}, {.function = Function::majority_vote}}}, 5), 1U);
}

TEST(Filters, multi_choice_regex_finds_a_letter_a_choice_or_a_letter_behind_a_colon) {
  FilterStep step{.function = Function::multi_choice_regex,
                  .pattern = Pattern::compile(R"((\([A-Z]\)))").value(),
                  .ignore_case = true,
                  .ignore_punctuation = true};
  const std::vector<std::string> choices = {"Red.", "dark blue", "Green"};
  const auto choice = [&](std::string_view answer) {
    return filtered({.steps = {step}}, {std::string(answer)}, choices).front();
  };
  EXPECT_EQ(choice("It is (B), not (C)"), "(B)");
  EXPECT_EQ(choice("It is Dark Blue!"), "(B)");
  EXPECT_EQ(choice("The color: red"), "(A)");
  EXPECT_EQ(choice("Answer: C"), "(C)");
  EXPECT_EQ(choice("Answer: D"), "[invalid]");
  step.fallback = "";
  EXPECT_EQ(filtered({.steps = {step}}, {"nothing"}, {}).front(), "");
}

}  // namespace
}  // namespace stackgate::evaluator::harness
