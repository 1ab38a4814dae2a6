#include <algorithm>
#include <chrono>
#include <limits>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/base/utf8.hpp"
#include "tests/model/tokenizer/small_tokenizers.hpp"
#include "tests/support/dice.hpp"

namespace stackgate::tokenizer {
namespace {

using Ids = std::vector<TokenId>;

TEST(Encode, merges_bytes_by_rank) {
  const auto tokenizer = test::make(test::byte_level());
  EXPECT_EQ(test::bare(tokenizer, "hello world"), (Ids{259, 260, 'o', 'r', 'l', 'd'}));
  EXPECT_EQ(test::bare(tokenizer, "é"), (Ids{0xC3, 0xA9}));
  EXPECT_EQ(test::bare(tokenizer, ""), Ids{});
  EXPECT_EQ(test::bare(tokenizer, "lll"), (Ids{257, 'l'}));  // the leftmost among equals
}

TEST(Encode, ignore_merges_takes_a_whole_piece) {
  test::Parts parts = test::byte_level();
  parts.tokens.emplace_back("ld");  // 261: no merge leads to it
  parts.added = "[]";
  EXPECT_EQ(test::bare(test::make(parts), "ld"), (Ids{'l', 'd'}));
  parts.options = R"("ignore_merges":true,)";
  EXPECT_EQ(test::bare(test::make(parts), "ld"), Ids{261});
}

TEST(Encode, byte_fallback_unknown_and_template) {
  test::Parts parts = test::byte_fallback();
  const auto tokenizer = test::make(parts);
  EXPECT_EQ(*Encoder(tokenizer).encode("ab"), (Ids{1, 265}));
  EXPECT_EQ(test::bare(tokenizer, "a  b"), (Ids{263, 266, 261}));
  EXPECT_EQ(test::bare(tokenizer, "é"), (Ids{259, 3 + 0xC3, 3 + 0xA9}));
  EXPECT_EQ(test::bare(tokenizer, "a</s>a"), (Ids{263, 2, 263}));  // each piece gets its own ▁
  parts.options = R"("fuse_unk":true,"unk_token":"<unk>",)";
  EXPECT_EQ(test::bare(test::make(parts), "xyza"), (Ids{259, 0, 260}));
  parts.options = R"("unk_token":"<unk>",)";
  EXPECT_EQ(test::bare(test::make(parts), "xya"), (Ids{259, 0, 0, 260}));
  parts.options = "";
  EXPECT_EQ(test::bare(test::make(parts), "xya"), (Ids{263}));  // what vanishes makes neighbours
}

TEST(Encode, added_tokens) {
  struct Case {
    std::string_view flags, text;
    Ids ids;
  };
  const std::vector<Case> cases = {
      {"", "a<x>b", {'a', 300, 'b'}},
      {"", "a<x><xy>b", {'a', 300, 301, 'b'}},  // the longest one
      {R"(,"lstrip":true)", "a \n<x> b", {'a', 300, ' ', 'b'}},
      {R"(,"rstrip":true)", "a <x> \tb", {'a', ' ', 300, 'b'}},
      {R"(,"single_word":true)", "a<x> <x> <x>_", {'a', '<', 'x', '>', ' ', 300, ' ', '<', 'x', '>', '_'}},
  };
  for (const Case& each : cases) {
    test::Parts parts = test::byte_level();
    parts.added =
        fmt::format(R"([{{"id":300,"content":"<x>","special":true{}}},{{"id":301,"content":"<xy>"}}])", each.flags);
    EXPECT_EQ(test::bare(test::make(parts), each.text), each.ids) << each.flags;
  }
}

TEST(Encode, normalized_added_tokens_are_looked_for_behind_the_normalizer) {
  test::Parts parts = test::byte_level();
  parts.normalizer = R"({"type":"Lowercase"})";
  parts.added = R"([{"id":300,"content":"<X>","normalized":true},{"id":301,"content":"<Y>","normalized":false}])";
  EXPECT_EQ(test::bare(test::make(parts), "<x><X><y><Y>"), (Ids{300, 300, '<', 'y', '>', 301}));
}

TEST(Encode, pre_tokenizers) {
  struct Case {
    std::string_view pre_tokenizer, text;
    std::vector<std::string> pieces;
  };
  const auto split = [](std::string_view behavior, bool invert) {
    return fmt::format(R"({{"type":"Split","pattern":{{"String":"-"}},"behavior":"{}","invert":{}}})", behavior,
                       invert);
  };
  const std::vector<std::string> splits = {
      split("Removed", false),        split("Isolated", false),   split("MergedWithPrevious", false),
      split("MergedWithNext", false), split("Contiguous", false), split("Removed", true)};
  // The examples of https://huggingface.co/docs/tokenizers/api/pre-tokenizers#tokenizers.pre_tokenizers.Split
  const std::vector<Case> cases = {
      {splits[0], "the-final--countdown", {"the", "final", "countdown"}},
      {splits[1], "the-final--countdown", {"the", "-", "final", "-", "-", "countdown"}},
      {splits[2], "the-final--countdown", {"the-", "final-", "-", "countdown"}},
      {splits[3], "the-final--countdown", {"the", "-final", "-", "-countdown"}},
      {splits[4], "the-final--countdown", {"the", "-", "final", "--", "countdown"}},
      {splits[5], "the-final--countdown", {"-", "-", "-"}},
      {R"({"type":"Digits"})", "a12b३", {"a", "12", "b", "३"}},
      {R"({"type":"Digits","individual_digits":true})", "a12", {"a", "1", "2"}},
      {R"({"type":"Metaspace"})", "a b  c", {"▁a", "▁b", "▁", "▁c"}},
      {R"({"type":"Metaspace","prepend_scheme":"never"})", "a b", {"a", "▁b"}},
      {R"({"type":"Metaspace","split":false})", "a b", {"▁a▁b"}},
      {R"j({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"(?=b)"},"behavior":"Isolated"},)j"
       R"j({"type":"Digits"}]})j",
       "ab1bb",
       {"a", "b", "1", "b", "b"}},
  };
  for (const Case& each : cases) {
    test::Parts parts = test::byte_fallback();
    parts.pre_tokenizer = each.pre_tokenizer;
    const auto tokenizer = test::make(parts);
    PreTokenizer pre_tokenizer(tokenizer->description().pre_tokenizer);
    std::vector<std::string> pieces;
    EXPECT_TRUE(
        pre_tokenizer.run({.text = each.text}, true, [&](const Slice& piece) { pieces.emplace_back(piece.text); }));
    EXPECT_EQ(pieces, each.pieces) << each.pre_tokenizer;
  }
}

TEST(Encode, spans_say_where_a_token_stands) {
  const auto spans = Encoder(test::make(test::byte_fallback())).encode_with_spans("ab é</s>a");
  ASSERT_TRUE(spans.has_value());
  std::vector<std::vector<std::uint32_t>> got;
  for (const TokenSpan& span : *spans) got.push_back({span.id, span.begin, span.end});
  EXPECT_THAT(got,
              ::testing::ElementsAre(std::vector<std::uint32_t>{1, 0, 0}, std::vector<std::uint32_t>{265, 0, 2},
                                     std::vector<std::uint32_t>{259, 2, 3}, std::vector<std::uint32_t>{3 + 0xC3, 3, 4},
                                     std::vector<std::uint32_t>{3 + 0xA9, 4, 5}, std::vector<std::uint32_t>{2, 5, 9},
                                     std::vector<std::uint32_t>{263, 9, 10}));
}

TEST(Encode, refuses_what_is_too_long_or_not_utf8) {
  Encoder encoder(test::make(test::byte_level()));
  EXPECT_EQ(encoder.encode(std::string(longest_text + 1, 'a')).error().reason, EncodeError::Reason::too_long);
  for (const std::string_view bad : {"\xC3", "a\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC0\x80"})
    EXPECT_EQ(encoder.encode(bad).error().reason, EncodeError::Reason::not_utf8);
}

/// The definition, in quadratic time: merge the leftmost pair of lowest rank until there is none.
Ids by_definition(std::string_view text,
                  const std::map<std::pair<TokenId, TokenId>, std::pair<std::size_t, TokenId>>& merges) {
  Ids ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  while (true) {
    std::size_t best = std::numeric_limits<std::size_t>::max(), at = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i)
      if (const auto found = merges.find({ids[i], ids[i + 1]}); found != merges.end() && found->second.first < best) {
        best = found->second.first;
        at = i;
      }
    if (best == std::numeric_limits<std::size_t>::max()) return ids;
    ids[at] = merges.at({ids[at], ids[at + 1]}).second;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

TEST(Encode, is_the_definition_for_drawn_merges_and_texts_short_and_long) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    testing::Dice dice(seed);
    test::Parts parts = test::byte_level();
    parts.added = "[]";
    parts.tokens.resize(256);
    parts.merges.clear();
    parts.pre_tokenizer = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false})";
    std::vector<std::pair<std::string, TokenId>> known = {{"a", 'a'}, {"b", 'b'}, {"c", 'c'}};
    std::map<std::pair<TokenId, TokenId>, std::pair<std::size_t, TokenId>> merges;
    for (int i = 0; i < 30; ++i) {
      const auto left = dice.pick(known), right = dice.pick(known);
      const std::string both = left.first + right.first;
      if (both.size() > 12 || merges.contains({left.second, right.second})) continue;
      auto result = std::ranges::find(parts.tokens, both);
      const auto id = static_cast<TokenId>(result - parts.tokens.begin());
      if (result == parts.tokens.end()) {
        parts.tokens.push_back(both);
        known.emplace_back(both, id);
      }
      merges[{left.second, right.second}] = {parts.merges.size(), id};
      parts.merges.emplace_back(left.first, right.first);
    }
    const auto tokenizer = test::make(parts);
    for (const std::size_t size : {0U, 1U, 5U, 20U, 47U, 48U, 49U, 50U, 300U}) {
      std::string text;
      for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + dice.roll(3));
      ASSERT_EQ(test::bare(tokenizer, text), by_definition(text, merges)) << text << ", seed " << seed;
    }
  }
}

/// Words are cut apart and kept in the cache; with ignore_merges they are not. Both must give the same here.
TEST(Encode, words_cut_apart_give_the_tokens_of_the_whole) {
  const auto apart = test::make(test::byte_fallback());
  test::Parts whole_parts = test::byte_fallback();
  whole_parts.tokens.emplace_back("c▁");  // no merge makes it, and no text may be cut before ▁ any more
  const auto whole = test::make(whole_parts);
  testing::Dice dice(3);
  const std::vector<std::string> letters = {"a", "b", "c", " ", "  ", "é", "▁"};
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::size_t i = dice.roll(40); i > 0; --i) text += dice.pick(letters);
    ASSERT_EQ(test::bare(apart, text), test::bare(whole, text)) << text;
  }
}

TEST(Encode, a_megabyte_without_a_space_takes_no_quadratic_time) {
  test::Parts parts = test::byte_level();
  parts.pre_tokenizer = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false})";
  std::string text;
  while (text.size() < (1U << 20U)) text += "helloll w";
  const auto tokenizer = test::make(parts);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_GT(test::bare(tokenizer, text).size(), 1000U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));  // quadratic: hours
}

}  // namespace
}  // namespace stackgate::tokenizer
