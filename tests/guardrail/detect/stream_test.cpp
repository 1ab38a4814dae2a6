// What holds of every text, and of texts that come in pieces.
#include <gtest/gtest.h>

#include "services/guardrail/detect/patterns.hpp"
#include "tests/guardrail/detect/detect_support.hpp"
#include "tests/guardrail/detect/pieces.hpp"

namespace stackgate::guardrail {
namespace {

TEST(OpenTail, keeps_back_whatever_may_go_on) {
  const SensitiveData all = test::sensitive();
  struct Tail {
    std::string_view text;
    std::size_t tail;
  };
  for (const Tail& each :
       {Tail{"", 0}, Tail{"a plain sentence", 8}, Tail{"a plain sentence ", 0}, Tail{"card 4111 1111 ", 10},
        Tail{"something of John Smi", 11}, Tail{"wherever\nJohn ", 5}, Tail{"mail jane@exam", 9}})
    EXPECT_EQ(all.open_tail(each.text), each.tail) << each.text;
  EXPECT_EQ(all.open_tail(std::string(5000, 'x')), longest_open_tail);
  EXPECT_EQ(test::sensitive({}).open_tail("John"), 0U);
}

TEST(OpenTail, of_any_text_leaves_what_stands_before_it_as_it_is) {
  const std::vector<Recognizer> recognizers = {
      {.name = "t", .supported_entity = "TICKET", .patterns = {{.regex = "\\binc[0-9]{6}\\b", .score = 0.9}}}};
  std::vector<std::string> entities = test::all_entities();
  entities.push_back("TICKET");
  const SensitiveData all = test::sensitive(entities, 0, recognizers);
  std::mt19937 random(1);
  for (int round = 0; round < 4000; ++round) {
    const std::string text = test::random_text(random, 1 + random() % 20);
    const Spans whole = all.find(text);
    ASSERT_EQ(test::fault_of(text, whole), "") << text;
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      if (cut < text.size() && (text[cut] & '\xC0') == '\x80') continue;
      ASSERT_EQ(test::tail_fault(all, text, whole, cut), "") << text << "\n" << text.substr(0, cut);
    }
  }
}

TEST(OpenTail, of_patterns_is_as_long_as_their_longest_match) {
  const auto patterns = Patterns::compile({.patterns = {"ab{1,3}c", "x.y"}}, "p");
  ASSERT_TRUE(patterns);
  EXPECT_TRUE(patterns->unbounded().empty());
  const std::string text = "abbc xéy abbbc abc x\xF0\x9F\x98\x80y abbbbc xyy xéy";
  const Spans whole = patterns->find(text);
  EXPECT_EQ(whole.size(), 7U);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    if (cut == text.size() || (text[cut] & '\xC0') != '\x80') {
      EXPECT_EQ(test::tail_fault(*patterns, text, whole, cut), "") << cut;
    }
  }
}

TEST(OpenTail, of_patterns_without_a_longest_match_is_declared) {
  const auto patterns = Patterns::compile({.patterns = {"a{2}", "b+", "c{2,}", "d{1000}e{1000}f{1000}"}}, "p");
  ASSERT_TRUE(patterns);
  EXPECT_EQ(patterns->unbounded(), (std::vector<std::uint16_t>{1, 2, 3}));
  EXPECT_EQ(patterns->open_tail(std::string(5000, 'x')), longest_open_tail);
}

}  // namespace
}  // namespace stackgate::guardrail
