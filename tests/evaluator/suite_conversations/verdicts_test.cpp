#include "services/evaluator/suite/conversations/verdicts.hpp"

#include <gmock/gmock.h>

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Verdicts, ratings_are_read_as_mt_bench_reads_them) {
  const std::vector<std::pair<std::string, double>> cases = {{"Rating: [[7]]", 7}, {"[[7.5]] and later [[3]]", 7.5},
                                                             {"Rating: [6]", 6},   {"see [1], then [[8]]", 8},
                                                             {"[[10]]", 10},       {"[[1.]]", 1}};
  for (const auto& [text, rating] : cases) EXPECT_EQ(read_rating(text).value_or(-1), rating) << text;
  for (const std::string text : {"", "7", "[[seven]]", "[[0]]", "[[11]]", "[[-3]]", "[[rating]]", "[[7"})
    EXPECT_FALSE(read_rating(text)) << text;
}

TEST(Verdicts, preferences_are_the_last_in_brackets) {
  EXPECT_EQ(read_preference("[[A]]"), Preference::a);
  EXPECT_EQ(read_preference("I'd say [[A]] at first, but [[B]]"), Preference::b);
  EXPECT_EQ(read_preference("[[B]] … no: [[C]]"), Preference::tie);
  EXPECT_FALSE(read_preference("A"));
  EXPECT_FALSE(read_preference("[[a]]"));
}

TEST(Verdicts, yes_and_no_are_the_last_in_brackets) {
  EXPECT_EQ(read_yes_no("[[YES]]"), true);
  EXPECT_EQ(read_yes_no("not [[yes]] but [[No]]"), false);
  EXPECT_FALSE(read_yes_no("yes"));
  EXPECT_FALSE(read_yes_no("[[maybe]]"));
}

TEST(Verdicts, lists_and_lines) {
  EXPECT_THAT(read_list("Topics:\n- physics\n-no\n  - **deep water** \r\n- \n- c", 10),
              ElementsAre("physics", "deep water", "c"));
  EXPECT_THAT(read_list("- a\n- b\n- c", 2), ElementsAre("a", "b"));
  EXPECT_THAT(read_list("nothing", 2), IsEmpty());
  EXPECT_THAT(read_list("- " + std::string(499, 'x') + "\xc3\xa4", 2).at(0), SizeIs(499));
  EXPECT_EQ(read_line("Goal: a table\nOutcome: none", "Outcome"), "none");
  EXPECT_EQ(read_line("**Goal**: a: b", "goal"), "a: b");
  EXPECT_EQ(read_line("Goals: x\nGoal:\nGoal: y", "Goal"), "y");
  EXPECT_EQ(read_line("", "Goal"), "");
}

}  // namespace
}  // namespace stackgate::evaluator
