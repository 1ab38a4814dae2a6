#include "services/evaluator/suite/retrieval/chunks.hpp"

#include <random>
#include <string>

#include <gmock/gmock.h>

#include "services/kit/base/utf8.hpp"

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;

std::size_t characters(std::string_view text) {
  std::size_t out = 0;
  for (const char c : text) out += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  return out;
}

TEST(Chunks, of_no_size_are_the_text) {
  EXPECT_THAT(chunks_of("  one two \n", {}), ElementsAre("one two"));
  EXPECT_TRUE(chunks_of(" \t\n", {}).empty());
  EXPECT_TRUE(chunks_of(" \t\n", {.size = 5}).empty());
}

TEST(Chunks, end_behind_a_sentence_or_at_white_space_or_where_they_must) {
  EXPECT_THAT(chunks_of("Ships sail far. They return home late.", {.size = 22}),
              ElementsAre("Ships sail far.", "They return home late."));
  EXPECT_THAT(chunks_of("one two three four five", {.size = 10}), ElementsAre("one two", "three four", "five"));
  EXPECT_THAT(chunks_of("abcdefghij", {.size = 4}), ElementsAre("abcd", "efgh", "ij"));
  EXPECT_THAT(chunks_of("éééééé", {.size = 4}), ElementsAre("éééé", "éé"));
  // A sentence that ends in the first half would leave small pieces.
  EXPECT_THAT(chunks_of("A b. cdefghi jklm nop", {.size = 14}), ElementsAre("A b. cdefghi", "jklm nop"));
}

TEST(Chunks, overlap_at_white_space) {
  EXPECT_THAT(chunks_of("one two three four five", {.size = 10, .overlap = 5}),
              ElementsAre("one two", "two three", "three four", "four five"));
  EXPECT_THAT(chunks_of("abcdefgh", {.size = 4, .overlap = 2}), ElementsAre("abcd", "cdef", "efgh"));
  // An overlap of nearly all still goes on.
  EXPECT_EQ(chunks_of("abcdefgh", {.size = 4, .overlap = 100}).size(), 5U);
}

TEST(Chunks, hold_all_of_any_text_and_no_more_than_their_size) {
  std::mt19937 random(4);
  const std::string_view letters[] = {"a", "b", " ", " ", ". ", "\n\n", "é", "漢", "。", "? "};
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (auto i = random() % 120; i > 0; --i) text += letters[random() % std::size(letters)];
    const std::uint32_t size = 1 + static_cast<std::uint32_t>(random() % 20);
    const std::uint32_t overlap = static_cast<std::uint32_t>(random() % size);
    const char* covered = text.data();
    for (const std::string_view chunk : chunks_of(text, {.size = size, .overlap = overlap})) {
      EXPECT_LE(characters(chunk), size);
      EXPECT_TRUE(utf8::is_valid(chunk));
      ASSERT_FALSE(chunk.empty());
      ASSERT_GT(chunk.data() + chunk.size(), covered) << "one that the piece before it holds";
      for (; covered < chunk.data(); ++covered) ASSERT_TRUE(std::string_view(" \n").contains(*covered)) << text;
      covered = std::max(covered, chunk.data() + chunk.size());
    }
    for (; covered < text.data() + text.size(); ++covered) ASSERT_TRUE(std::string_view(" \n").contains(*covered));
  }
}

TEST(Sentences, end_where_they_do) {
  EXPECT_THAT(sentences_of("He came. \"Did he?\" Yes! Version 1.5 is out", 10),
              ElementsAre("He came.", "\"Did he?\"", "Yes!", "Version 1.5 is out"));
  EXPECT_THAT(sentences_of("A title\n\nA text", 10), ElementsAre("A title", "A text"));
  EXPECT_THAT(sentences_of("一。二！三", 10), ElementsAre("一。", "二！", "三"));
  EXPECT_THAT(sentences_of("One. Two. Three.", 2), ElementsAre("One.", "Two. Three."));
  EXPECT_TRUE(sentences_of("  ", 10).empty());
}

}  // namespace
}  // namespace stackgate::evaluator
