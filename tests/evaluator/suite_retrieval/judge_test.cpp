#include "services/evaluator/suite/retrieval/judge.hpp"

#include <cmath>

#include <gmock/gmock.h>

namespace stackgate::evaluator {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Judge, is_shown_the_texts_between_marks) {
  const std::vector<std::string> contexts = {"c one", "c two"}, statements = {"s one"};
  EXPECT_THAT(statements_prompt("Q?", "A."),
              AllOf(HasSubstr("<question>\nQ?\n</question>"), HasSubstr("<answer>\nA.\n")));
  EXPECT_THAT(support_prompt(contexts, statements), AllOf(HasSubstr("[1] c one\n[2] c two\n</contexts>"),
                                                          HasSubstr("each of 1 statements"), HasSubstr("[1] s one")));
  EXPECT_THAT(questions_prompt("A."), AllOf(HasSubstr("Write 3 different"), HasSubstr("<text>\nA.\n</text>")));
  EXPECT_THAT(usefulness_prompt("Q?", "C", "A"), AllOf(HasSubstr("<context>\nC\n"), HasSubstr("{\"useful\": 1}")));
}

TEST(Judge, answers_are_read_whatever_stands_around_them) {
  for (const char* answer :
       {R"({"useful": 1})", "```json\n{\"useful\": true}\n```", "Sure {x}: {\"useful\": \"Yes\"} ok?",
        R"(<think>{"useful": 0}</think> {"useful": "1", "reason": "…"})"})
    EXPECT_EQ(read_usefulness(answer), true) << answer;
  for (const char* answer : {R"({"useful": 0})", R"({"useful": false})", R"({"useful": "no"})"})
    EXPECT_EQ(read_usefulness(answer), false) << answer;
  for (const char* answer : {"", "yes", "{", R"({"useful": 2})", R"({"useful": null})", R"({"use": 1})", "[1]",
                             R"({"useful": 1)", "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{"})
    EXPECT_FALSE(read_usefulness(answer)) << answer;
}

TEST(Judge, verdicts_must_be_as_many_as_there_were_statements) {
  EXPECT_THAT(read_verdicts(R"({"verdicts": [1, 0, "yes", false]})", 4).value(), ElementsAre(true, false, true, false));
  EXPECT_EQ(read_verdicts(R"({"verdicts": [1]})", 2).error(), "the judge's answer has 1 verdicts on 2 statements");
  EXPECT_EQ(read_verdicts(R"({"verdicts": [1, -1]})", 2).error(),
            "the judge's answer has a verdict that is neither 0 nor 1");
  EXPECT_FALSE(read_verdicts("{}", 1));
}

TEST(Judge, statements_and_questions_are_texts) {
  EXPECT_THAT(read_statements(R"({"statements": ["a", "", "b"]})").value(), ElementsAre("a", "b"));
  EXPECT_THAT(read_statements(R"({"statements": []})").value(), testing::IsEmpty());
  EXPECT_FALSE(read_statements(R"({"statements": [1]})"));
  EXPECT_FALSE(read_statements(R"({"statements": "a"})"));
  EXPECT_THAT(read_statements(statements_prompt("Q?", "A.")).error(), HasSubstr("repeats the example"));
  EXPECT_THAT(read_questions(questions_prompt("A.")).error(), HasSubstr("repeats the example"));
  std::string many = R"({"statements": ["a")";
  for (std::size_t i = 0; i < most_statements; ++i) many += R"(,"a")";
  EXPECT_THAT(read_statements(many + "]}").error(), HasSubstr("more than 200"));

  const auto questions = read_questions(R"({"noncommittal": 0, "questions": ["a", "b", "c", "d"]})");
  EXPECT_THAT(questions->questions, ElementsAre("a", "b", "c"));
  EXPECT_TRUE(read_questions(R"({"noncommittal": 1})")->is_noncommittal);
  EXPECT_FALSE(read_questions(R"({"noncommittal": 0})"));
  EXPECT_FALSE(read_questions(R"({"noncommittal": 0, "questions": []})"));
  EXPECT_FALSE(read_questions(R"({"questions": ["a"]})"));
}

TEST(Judge, cosines_are_as_many_numbers) {
  EXPECT_THAT(read_cosines("[0.5,-1]", 2).value(), ElementsAre(0.5, -1));
  for (const char* answer : {"[0.5]", "[0.5,null]", "{}", "", "[0.5,\"1\"]"})
    EXPECT_FALSE(read_cosines(answer, 2)) << answer;
}

TEST(ContextPrecision, is_the_mean_of_precisions_over_the_useful_ones) {
  EXPECT_DOUBLE_EQ(context_precision({true, false, true}), (1.0 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(context_precision({false, false, true, true, false}), (1.0 / 3 + 2.0 / 4) / 2);
  EXPECT_DOUBLE_EQ(context_precision({true, true}), 1);
  EXPECT_DOUBLE_EQ(context_precision({false, false}), 0);
  EXPECT_TRUE(std::isnan(context_precision({})));
  EXPECT_DOUBLE_EQ(share_of({true, false, false, false}), 0.25);
  EXPECT_TRUE(std::isnan(share_of({})));
}

}  // namespace
}  // namespace stackgate::evaluator
