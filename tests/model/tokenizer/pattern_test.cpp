#include "services/model/tokenizer/pattern.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "services/model/tokenizer/pattern_syntax.hpp"

namespace stackgate::tokenizer {
namespace {

TEST(PatternSyntax, is_written_for_pcre2) {
  const std::vector<std::pair<std::string_view, std::string_view>> table = {
      {R"(\s+(?!\S)|\s+)", R"([\t-\r\x{85}\p{Z}]+(?![^\t-\r\x{85}\p{Z}])|[\t-\r\x{85}\p{Z}]+)"},
      {R"([^\s\p{L}])", R"([^\t-\r\x{85}\p{Z}\p{L}])"},
      {R"(\h)", "[0-9A-Fa-f]"},
      {R"(\u00e9)", R"(\x{00e9})"},
      {R"(\p{N}{1,3}+x)", R"((?:\p{N}{1,3})+x)"},
      {R"((?:ab){2}+)", R"((?:(?:ab){2})+)"},
      {R"([ab]{,3})", R"([ab]{0,3})"},
      {R"(a{b)", R"(a{b)"},
      {R"((?i:'s|'t)|[^\r\n]?+\p{L}++)", R"((?i:'s|'t)|[^\r\n]?+\p{L}++)"},
  };
  for (const auto& [from, to] : table) EXPECT_EQ(to_pcre(from), std::string(to));
}

TEST(PatternSyntax, refuses_what_means_something_else) {
  for (const std::string_view bad : {"[a&&b]", "[a[bc]]", "[[:alpha:]]", "(?<name>a)", "(?R)", "(?m:a)", "(*UTF)a",
                                     "(?C1)", R"(\C)", R"(\K)", R"(\Q)", "a\\", "[a", "a)", R"(\p{L)", "[]"})
    EXPECT_FALSE(Pattern::compile(bad).has_value()) << bad;
}

std::vector<std::string> all(std::string_view pattern, std::string_view text) {
  const auto compiled = Pattern::compile(pattern);
  EXPECT_TRUE(compiled.has_value()) << compiled.error();
  Matcher matcher;
  std::vector<std::string> out;
  Match match;
  for (std::size_t at = 0; at < text.size() && matcher.find(*compiled, text, at, match) == Matcher::Result::found;) {
    out.emplace_back(text.substr(match.begin, match.end - match.begin));
    at = match.end;
  }
  return out;
}

TEST(Pattern, white_space_is_that_of_unicode) {
  EXPECT_EQ(all(R"(\s)", "a\xE1\xA0\x8E\xC2\x85\xE3\x80\x80"), (std::vector<std::string>{"\xC2\x85", "\xE3\x80\x80"}));
  EXPECT_EQ(all(R"([\S]+)", "a\xE1\xA0\x8E b"), (std::vector<std::string>{"a\xE1\xA0\x8E", "b"}));
}

TEST(Pattern, splits_as_gpt2) {
  EXPECT_EQ(
      all(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", "It's  12 naïve!?\n\nx"),
      (std::vector<std::string>{"It", "'s", " ", " 12", " naïve", "!?", "\n", "\n", "x"}));
}

TEST(Pattern, a_long_run_of_blanks_is_not_too_many_steps) {
  const auto compiled = Pattern::compile(R"(\s*[\r\n]+|\s+(?!\S)|\s+)");
  ASSERT_TRUE(compiled.has_value());
  const std::string blanks(8U << 20U, ' ');
  Match match;
  EXPECT_EQ(Matcher().find(*compiled, blanks, 0, match), Matcher::Result::found);
  EXPECT_EQ(match.end, blanks.size());
}

TEST(Pattern, ends_where_it_takes_too_many_steps) {
  const auto compiled = Pattern::compile("(?:(?:a|aa)+)+[^a]");
  ASSERT_TRUE(compiled.has_value());
  Match match;
  EXPECT_EQ(Matcher().find(*compiled, std::string(5000, 'a'), 0, match), Matcher::Result::too_many_steps);
}

}  // namespace
}  // namespace stackgate::tokenizer
