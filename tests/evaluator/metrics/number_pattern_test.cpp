#include "services/evaluator/metrics/number_pattern.hpp"

#include <gmock/gmock.h>

namespace stackgate::evaluator {
namespace {

using testing::HasSubstr;

TEST(NumberPattern, reads_the_first_group_of_the_first_match) {
  const auto pattern = NumberPattern::compile(R"(score:\s*(\S+))").value();
  const std::vector<std::pair<std::string, double>> cases = {
      {"score: 7", 7}, {"score: -1.5 score: 3", -1.5}, {"score: +2", 2}, {"score: 1e2", 100}, {"x\nscore:\n4", 4}};
  for (const auto& [text, number] : cases) EXPECT_EQ(pattern.read(text).value_or(-99), number) << text;
  for (const std::string text :
       {"", "score", "score: seven", "score: nan", "score: inf", "score: 7/10", "score: 1e999"})
    EXPECT_FALSE(pattern.read(text)) << text;
}

TEST(NumberPattern, says_what_is_wrong_with_a_pattern) {
  EXPECT_THAT(NumberPattern::compile("([").error(), HasSubstr("is no pattern"));
  EXPECT_THAT(NumberPattern::compile("\\d").error(), HasSubstr("has no group"));
  // A group that took no part in the match.
  EXPECT_FALSE(NumberPattern::compile("a|(b)").value().read("a"));
}

}  // namespace
}  // namespace stackgate::evaluator
