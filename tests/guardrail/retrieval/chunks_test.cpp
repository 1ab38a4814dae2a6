#include "services/guardrail/retrieval/chunks.hpp"

#include <gtest/gtest.h>

#include "services/kit/base/utf8.hpp"

namespace stackgate::guardrail {
namespace {

std::string shown_chunks(const Chunks& chunks) {
  std::string out;
  for (const Chunk& each : chunks.chunks) out += "[" + each.title + "] " + each.body + "\n";
  return out + (chunks.complete ? "" : "…");
}

TEST(Chunks, are_cut_at_headings_and_named_by_them) {
  EXPECT_EQ(
      shown_chunks(markdown_chunks("prices.md",
                                   "Intro.\n\n# Prices #\r\n\r\nAll in euro.\n## Discounts\nTen percent.\n\n"
                                   "# Terms\n### Deep\nx\n#no heading\n")),
      "[prices.md] Intro.\n[Prices] All in euro.\n[Prices - Discounts] Ten percent.\n[Terms - Deep] x\n#no heading\n");
  EXPECT_EQ(shown_chunks(markdown_chunks("a.md", "")), "");
  EXPECT_EQ(shown_chunks(markdown_chunks("a.md", "# Only\n\n\n")), "");
}

TEST(Chunks, leave_code_whole) {
  EXPECT_EQ(shown_chunks(markdown_chunks("a.md", "# A\n```\n# comment\n\nx\n```\n# B\ny")),
            "[A] ```\n# comment\n\nx\n```\n[B] y\n");
}

TEST(Chunks, put_short_paragraphs_together) {
  const ChunkLimits limits{.wanted_bytes = 10, .most_bytes = 20};
  EXPECT_EQ(shown_chunks(markdown_chunks("a", "aaa\n\nbbb\n\nccc\n\nddddddddddddddd", limits)),
            "[a] aaa\n\nbbb\n[a] ccc\n[a] ddddddddddddddd\n");
}

TEST(Chunks, are_bounded) {
  const ChunkLimits limits{.wanted_bytes = 10, .most_bytes = 20, .chunks = 3};
  EXPECT_EQ(shown_chunks(markdown_chunks("a", "one two three four five six", limits)),
            "[a] one two three four\n[a] five six\n");
  std::string long_word;
  for (int i = 0; i < 40; ++i) long_word += "é";
  const Chunks cut = markdown_chunks("a", "x" + long_word, limits);
  EXPECT_EQ(cut.chunks.size(), 3U);
  EXPECT_FALSE(cut.complete);
  for (const Chunk& each : cut.chunks) {
    EXPECT_TRUE(utf8::is_valid(each.body));
    EXPECT_LE(each.body.size(), 20U);
  }
}

}  // namespace
}  // namespace stackgate::guardrail
