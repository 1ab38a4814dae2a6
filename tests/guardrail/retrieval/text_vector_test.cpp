#include "services/guardrail/retrieval/text_vector.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "services/guardrail/retrieval/vector_index.hpp"

namespace stackgate::guardrail {
namespace {

float cosine(std::string_view a, std::string_view b) {
  const TextVector x = text_vector(a), y = text_vector(b);
  float sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

TEST(TextVector, has_length_one_or_none) {
  EXPECT_NEAR(cosine("hello there", "hello there"), 1, 1e-5);
  EXPECT_NEAR(cosine("Hello, THERE!", "there hello"), 1, 1e-5);
  EXPECT_EQ(cosine("...", "..."), 0);
  EXPECT_EQ(cosine("", "hello"), 0);
}

TEST(TextVector, of_similar_texts_lie_near) {
  EXPECT_GT(cosine("what is the weather today", "how is the weather"), 0.3);
  EXPECT_GT(cosine("cancel my subscription", "I want to cancel the subscriptions"), 0.6);
  EXPECT_LT(std::abs(cosine("cancel my subscription", "tell me about the moon")), 0.25);
}

TEST(TextVector, is_the_same_everywhere) {
  const TextVector vector = text_vector("hello");
  double sum = 0;
  for (std::size_t i = 0; i < vector.size(); ++i) sum += static_cast<double>(i + 1) * static_cast<double>(vector[i]);
  EXPECT_NEAR(sum, -154.393, 1e-2);
}

TEST(TextVector, finds_the_intent_of_a_question) {
  const std::vector<std::string> examples = {"hello",
                                             "hi there",
                                             "good morning",  // 0-2: greeting
                                             "what can you do?",
                                             "how can you help me?",
                                             "tell me about your capabilities",  // 3-5: capabilities
                                             "who should I vote for?",
                                             "what do you think about the president?",
                                             "which party is best?",  // 6-8: politics
                                             "how many vacation days do I have?",
                                             "how much paid leave do I get?",  // 9-10: leave
                                             "my password does not work",
                                             "I cannot log in",
                                             "reset my password"};  // 11-13: login
  VectorIndex index(text_vector_size);
  for (const std::string& each : examples) index.add(text_vector(each));
  struct Question {
    std::string_view text;
    std::uint32_t first, last;
  };
  for (const Question& each :
       {Question{"Hello!", 0, 2}, Question{"hi, how are things", 0, 2}, Question{"What are your capabilities?", 3, 5},
        Question{"can you help me with something?", 3, 5}, Question{"which presidents do you think are good", 6, 8},
        Question{"voting: for whom should I?", 6, 8}, Question{"How many days of vacation are left?", 9, 10},
        Question{"paid leaves?", 9, 10}, Question{"I forgot my passwords", 11, 13},
        Question{"the password reset fails", 11, 13}}) {
    const auto nearest = index.nearest(text_vector(each.text), 1);
    ASSERT_EQ(nearest.size(), 1U);
    EXPECT_TRUE(nearest[0].index >= each.first && nearest[0].index <= each.last)
        << each.text << " → " << examples[nearest[0].index] << " " << nearest[0].similarity;
  }
}

}  // namespace
}  // namespace stackgate::guardrail
