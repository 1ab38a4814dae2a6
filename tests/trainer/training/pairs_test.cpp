#include "services/trainer/tiny/pairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::trainer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> learned(std::string_view text, std::size_t count) {
  std::vector<std::string> out = symbols_of(learn_pairs(text, count));
  out.erase(out.begin(), out.begin() + 256);
  return out;
}

TEST(Pairs, the_most_frequent_come_first) {
  EXPECT_THAT(learned("the then the bath bath path", 5), ElementsAre("th", "ath", "the", " b", " the"));
  EXPECT_THAT(learned("aaaa aaaa", 10), ElementsAre("aa", "aaaa"));
}

TEST(Pairs, stay_within_words) {
  EXPECT_THAT(learned("a1 a1 a1", 10), ElementsAre(" a")) << "letters and digits apart";
  EXPECT_THAT(learned("x, x, x,", 10), ElementsAre(" x"));
  EXPECT_THAT(learned("\n\n\n\n a\n\n\n\n a", 10), ElementsAre("\n\n", " a", "\n\n\n\n"));
}

TEST(Pairs, nothing_that_comes_once) {
  EXPECT_THAT(learned("", 10), IsEmpty());
  EXPECT_THAT(learned("abc", 10), IsEmpty());
}

}  // namespace
}  // namespace stackgate::trainer
