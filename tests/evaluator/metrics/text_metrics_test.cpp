// BLEU, chrF, ROUGE, F1 and exact match against vectors worked out by hand, and what must hold of any text.
#include <algorithm>
#include <cmath>
#include <random>

#include <gmock/gmock.h>

#include "services/evaluator/metrics/bleu.hpp"
#include "services/evaluator/metrics/matching.hpp"
#include "services/evaluator/metrics/rouge.hpp"
#include "services/evaluator/metrics/words.hpp"

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;
using Texts = std::vector<std::string>;

Bleu bleu(std::string_view text, const Texts& references, bool effective = false) {
  return bleu_of(count_bleu(text, references), effective);
}
double chrf(std::string_view text, const Texts& references) { return chrf_of(count_chrf(text, references)); }
RougeScores rouge(std::string_view text, const Texts& references) { return rouge_of(text, references).value(); }

TEST(Words, are_cut_as_13a_does) {
  EXPECT_THAT(bleu_words("Hello, world! It's 3.5-4.0, e.g. “x”."),
              ElementsAre("Hello", ",", "world", "!", "It's", "3.5", "-", "4.0", ",", "e", ".", "g", ".", "“x”", "."));
  EXPECT_THAT(bleu_words("&quot;a&amp;lt;b&quot;"), ElementsAre("\"", "a", "<", "b", "\""));  // one after the other
  EXPECT_THAT(bleu_words("hyphen-\nated and-so\non"), ElementsAre("hyphenated", "and-so", "on"));
  EXPECT_THAT(bleu_words("cut off-\n"), ElementsAre("cut", "off-"));  // white space at the end goes first
  EXPECT_THAT(bleu_words("1,000.5 .5 5."), ElementsAre("1,000.5", ".", "5", "5", "."));
  EXPECT_THAT(bleu_words(""), ElementsAre());
}

TEST(Words, are_cut_as_rouge_and_squad_do) {
  EXPECT_THAT(rouge_words("Café No.5: it's İx \u212Aelvin"),
              ElementsAre("caf", "no", "5", "it", "s", "i", "x", "kelvin"));
  EXPECT_THAT(squad_words("The  cat's (a) dog—a cat, AN ÉTÉ theory"),
              ElementsAre("cats", "dog—", "cat", "été", "theory"));
}

TEST(Bleu, of_equal_texts_is_whole) {
  EXPECT_EQ(bleu("The cat sat on the mat.", {"The cat sat on the mat."}).score, 100);  // and no bit more
}

TEST(Bleu, clips_and_smooths) {
  // Papineni's example: of seven "the" two are in the reference. 2/7; nothing of 6, 5 and 4 runs: halves of one.
  const Bleu found = bleu("the the the the the the the", {"the cat is on the mat"});
  EXPECT_NEAR(found.precisions[0], 200.0 / 7, 1e-9);
  EXPECT_NEAR(found.precisions[1], 100.0 / 2 / 6, 1e-9);
  EXPECT_NEAR(found.precisions[2], 100.0 / 4 / 5, 1e-9);
  EXPECT_NEAR(found.precisions[3], 100.0 / 8 / 4, 1e-9);
  EXPECT_NEAR(found.score, std::pow(200.0 / 7 * 100 / 12 * 100 / 20 * 100 / 32, 0.25), 1e-9);
}

TEST(Bleu, is_brief_by_the_closest_reference) {
  // Four words against six and three: three is closer, so nothing is taken off. Against six alone: exp(1 − 6/4).
  EXPECT_DOUBLE_EQ(bleu("a b c d", {"a b c d e f", "x y z"}).brevity_penalty, 1);
  EXPECT_DOUBLE_EQ(bleu("a b c d", {"a b c d e f"}).brevity_penalty, std::exp(1 - 6.0 / 4));
  EXPECT_EQ(count_bleu("a b c d", Texts{"a b c", "a b c d e"}).reference_length, 3U);  // the shorter of two
}

TEST(Bleu, of_short_texts_is_0_unless_the_order_is_effective) {
  EXPECT_DOUBLE_EQ(bleu("good day", {"good day"}).score, 0);
  EXPECT_NEAR(bleu("good day", {"good day"}, true).score, 100, 1e-9);
  EXPECT_DOUBLE_EQ(bleu("", {"a"}, true).score, 0);
  EXPECT_DOUBLE_EQ(bleu("b", {"a"}, true).score, 0);
}

TEST(Chrf, is_the_mean_of_six_orders) {
  // "ab" of "abc": orders 1 and 2 with precision 1 and recall 2/3 and 1/2; F2 of 1 and 7/12.
  EXPECT_NEAR(chrf("ab", {"abc"}), 100 * 5 * (7.0 / 12) / (4 + 7.0 / 12), 1e-9);
  EXPECT_NEAR(chrf("a b c", {"abc"}), 100, 1e-9);
  EXPECT_DOUBLE_EQ(chrf("x", {"y"}), 0);
  EXPECT_DOUBLE_EQ(chrf("", {"y"}), 0);
  EXPECT_NEAR(chrf("ab", {"zz", "ab"}), 100, 1e-9);
  EXPECT_NEAR(chrf("é", {"é"}), 100, 1e-9);
}

TEST(Chrf, counts_words_too_where_asked) {
  EXPECT_THAT(chrf_words("(Ab), c. - d' 'e .."), ElementsAre("(Ab)", ",", "c", ".", "-", "d", "'", "'", "e", ".", "."));
  // "a b" of "a c": characters, order 1 with 1/2 and order 2 ("ab" of "ac") with 0; words, order 1 with 1/2 and order 2
  // with 0. Precision and recall are the mean of the four, 1/4, and so is F. Without order 2 of words: (1/2+0+1/2)/3.
  EXPECT_NEAR(chrf_of(count_chrf("a b", Texts{"a c"}, 2)), 25, 1e-9);
  EXPECT_NEAR(chrf_of(count_chrf("a b", Texts{"a c"}, 1)), 100.0 / 3, 1e-9);
  EXPECT_NEAR(chrf_of(count_chrf("a, b", Texts{"a, b"}, 2)), 100, 1e-9);
}

TEST(Rouge, counts_runs_and_subsequences) {
  const RougeScores found = rouge("the cat sat", {"the cat sat on the mat"});
  EXPECT_DOUBLE_EQ(found[0].precision, 1);
  EXPECT_DOUBLE_EQ(found[0].recall, 0.5);
  EXPECT_DOUBLE_EQ(found[0].fmeasure, 2.0 / 3);
  EXPECT_DOUBLE_EQ(found[1].recall, 2.0 / 5);
  EXPECT_DOUBLE_EQ(found[2].recall, 1.0 / 4);
  EXPECT_DOUBLE_EQ(found[3].recall, 0.5);
  // Lin's example: the order matters to L.
  EXPECT_DOUBLE_EQ(rouge("police kill the gunman", {"police killed the gunman"})[3].fmeasure, 0.75);
  EXPECT_DOUBLE_EQ(rouge("the gunman kill police", {"police killed the gunman"})[3].fmeasure, 0.5);
}

TEST(Rouge, sums_the_union_over_sentences) {
  // Lin's example of 3.2: w1 w2 w3 w5 of the reference are in one of the two sentences.
  const RougeScore found = rouge("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", {"w1 w2 w3 w4 w5"})[4];
  EXPECT_DOUBLE_EQ(found.recall, 4.0 / 5);
  EXPECT_DOUBLE_EQ(found.precision, 4.0 / 10);
}

TEST(Rouge, takes_each_kind_of_its_best_reference) {
  const RougeScores found = rouge("a b c d", {"b a d c", "c d"});
  EXPECT_DOUBLE_EQ(found[0].fmeasure, 1);        // the first
  EXPECT_DOUBLE_EQ(found[1].fmeasure, 2.0 / 4);  // one of three runs, all of the second's: 2·(1/3·1)/(1/3+1)
  EXPECT_DOUBLE_EQ(rouge("", {"a"})[0].fmeasure, 0);
}

/// The textbook's table.
std::size_t slow_lcs(const Words& a, const Words& b) {
  std::vector<std::vector<std::size_t>> t(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      t[i][j] = a[i - 1] == b[j - 1] ? t[i - 1][j - 1] + 1 : std::max(t[i - 1][j], t[i][j - 1]);
  return t[a.size()][b.size()];
}

TEST(Rouge, finds_the_longest_subsequence_of_long_texts) {
  std::mt19937 random(7);
  for (const std::size_t size : {1U, 5U, 63U, 64U, 65U, 128U, 200U}) {
    for (int round = 0; round < 5; ++round) {
      std::string a, b;
      for (std::size_t i = 0; i < size; ++i) a += static_cast<char>('a' + random() % 5) + std::string(" ");
      for (std::size_t i = 0; i < size + 10; ++i) b += static_cast<char>('a' + random() % 7) + std::string(" ");
      const auto expected = static_cast<double>(slow_lcs(rouge_words(a), rouge_words(b)));
      EXPECT_NEAR(rouge(a, {b})[3].precision, expected / static_cast<double>(size), 1e-12) << a << '\n' << b;
    }
  }
}

TEST(TextMetrics, stay_within_their_bounds_and_are_whole_for_equal_texts) {
  std::mt19937 random(11);
  const std::string alphabet[] = {"a", "b", " ", ".", ",", "é", "中", "\n", "1", "-", "'"};
  for (int round = 0; round < 300; ++round) {
    std::string a, b;
    for (std::size_t i = random() % 30; i > 0; --i) a += alphabet[random() % 11];
    for (std::size_t i = random() % 30; i > 0; --i) b += alphabet[random() % 11];
    const double score = bleu(a, {b}, true).score, c = chrf(a, {b}), f1 = token_f1(a, Texts{b});
    EXPECT_GE(score, 0);
    EXPECT_LE(score, 100 + 1e-9);
    EXPECT_GE(c, 0);
    EXPECT_LE(c, 100 + 1e-9);
    EXPECT_GE(f1, 0);
    EXPECT_LE(f1, 1);
    EXPECT_NEAR(f1, token_f1(b, Texts{a}), 1e-12);
    for (const RougeScore& each : rouge(a, {b})) {
      EXPECT_GE(each.fmeasure, 0);
      EXPECT_LE(each.fmeasure, 1 + 1e-12);
    }
    EXPECT_DOUBLE_EQ(token_f1(a, Texts{a}), 1);
    EXPECT_NEAR(chrf(a, {a}), characters_of(a).empty() ? 0 : 100, 1e-9);
    EXPECT_DOUBLE_EQ(rouge(a, {a})[3].fmeasure, rouge_words(a).empty() ? 0 : 1);
  }
}

TEST(TextMetrics, do_not_depend_on_the_order_of_items_references_or_words) {
  std::mt19937 random(12);
  const auto text_of = [&random] {
    std::string out;
    for (std::size_t i = random() % 12; i > 0; --i) out += static_cast<char>('a' + random() % 5) + std::string(" ");
    return out;
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<std::pair<std::string, Texts>> items;
    for (int i = 0; i < 6; ++i) items.push_back({text_of(), {text_of(), text_of(), text_of()}});
    BleuCounts forth, back;
    ChrfCounts chrf_forth, chrf_back;
    for (const auto& [text, references] : items) {
      Texts turned(references.rbegin(), references.rend());
      EXPECT_EQ(bleu(text, references, true).score, bleu(text, turned, true).score);
      EXPECT_EQ(chrf(text, references), chrf(text, turned));
      EXPECT_EQ(token_f1(text, references), token_f1(text, turned));
      for (std::size_t kind = 0; kind < 5; ++kind)
        EXPECT_EQ(rouge(text, references)[kind].fmeasure, rouge(text, turned)[kind].fmeasure);
      std::string mixed;
      Words words = split_words(text);
      std::ranges::shuffle(words, random);
      for (const std::string& each : words) mixed += each + " ";
      EXPECT_EQ(token_f1(text, references), token_f1(mixed, references));
      EXPECT_EQ(rouge(text, references)[0].fmeasure, rouge(mixed, references)[0].fmeasure);
      forth += count_bleu(text, references);
      chrf_forth += count_chrf(text, references);
    }
    std::ranges::shuffle(items, random);
    for (const auto& [text, references] : items) {
      back += count_bleu(text, references);
      chrf_back += count_chrf(text, references);
    }
    EXPECT_EQ(bleu_of(forth, false).score, bleu_of(back, false).score);
    EXPECT_EQ(chrf_of(chrf_forth), chrf_of(chrf_back));
  }
}

TEST(F1, counts_words_as_bags) {
  EXPECT_DOUBLE_EQ(token_f1("the cat", Texts{"a cat!"}), 1);
  EXPECT_DOUBLE_EQ(token_f1("cat cat dog", Texts{"cat dog dog"}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(token_f1("x", Texts{"y", "x z"}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(token_f1("the", Texts{""}), 1);
  EXPECT_DOUBLE_EQ(token_f1("the", Texts{"x"}), 0);
}

TEST(ExactMatch, ignores_what_it_is_told_in_order) {
  const auto matches = [](const MatchOptions& options, std::string_view text, std::string_view reference) {
    return ExactMatch::compile(options)->matches(text, Texts{std::string(reference)});
  };
  EXPECT_TRUE(matches({}, "a", "a"));
  EXPECT_FALSE(matches({}, "a ", "a"));
  EXPECT_TRUE(matches({.strip = true}, " a\u3000", "a"));
  EXPECT_TRUE(matches({.ignore_case = true}, "ÉA", "éa"));
  EXPECT_TRUE(matches({.ignore_punctuation = true}, "$1,000!", "1000"));
  EXPECT_TRUE(matches({.ignore_numbers = true}, "a1", "a2"));
  EXPECT_TRUE(matches({.regexes_to_ignore = {",", "\\$"}}, "$1,000", "1000"));
  // The pattern is looked for before the case is lowered.
  EXPECT_FALSE(matches({.regexes_to_ignore = {"x"}, .ignore_case = true}, "Xa", "a"));
  EXPECT_THAT(ExactMatch::compile({.regexes_to_ignore = {"(?=a)"}}).error(), testing::HasSubstr("(?=a)"));
}

TEST(StringCheck, has_six_operations) {
  struct Row {
    std::string_view name, text, reference;
    bool holds;
  };
  for (const Row& row : {Row{"equals", "a", "a", true}, Row{"not equals", "a", "a", false},
                         Row{"contains", "abc", "b", true}, Row{"not_contains", "abc", "b", false},
                         Row{"startswith", "abc", "ab", true}, Row{"ends with", "abc", "ab", false}})
    EXPECT_EQ(check_string(string_check_named(row.name).value(), row.text, row.reference), row.holds) << row.name;
  EXPECT_FALSE(string_check_named("like"));
}

}  // namespace
}  // namespace stackgate::evaluator
