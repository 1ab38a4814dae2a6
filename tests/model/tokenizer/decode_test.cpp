#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "services/kit/base/utf8.hpp"
#include "services/model/tokenizer/stream_decoder.hpp"
#include "tests/model/tokenizer/small_tokenizers.hpp"
#include "tests/support/dice.hpp"

namespace stackgate::tokenizer {
namespace {

using Ids = std::vector<TokenId>;

TEST(Decode, byte_level) {
  const auto tokenizer = test::make(test::byte_level());
  EXPECT_EQ(tokenizer->decode(Ids{259, 260, 'o'}), "hello wo");
  EXPECT_EQ(tokenizer->decode(Ids{'a', 261, 'b'}), "ab");
  EXPECT_EQ(tokenizer->decode(Ids{'a', 261, 'b'}, {.skip_special_tokens = false}), "a<|end|>b");
  EXPECT_EQ(tokenizer->decode(Ids{0xE2, 261, 0x82, 0xAC}), "€");
  EXPECT_EQ(tokenizer->decode(Ids{0xE2, 0x82, 'a', 0xFF, 0xF0, 0x9F}), "\uFFFDa\uFFFD\uFFFD");
  EXPECT_EQ(tokenizer->decode(Ids{'a', 262, 5'000'000, 'b'}), "ab");  // padded embeddings
}

TEST(Decode, sentence_piece_strips_one_blank_of_a_whole_text_only) {
  const auto tokenizer = test::make(test::byte_fallback());
  EXPECT_EQ(tokenizer->decode(Ids{1, 263, 263}), "a a");
  EXPECT_EQ(tokenizer->decode(Ids{266, 263}), "  a");  // ▁▁ and ▁a are three blanks
  EXPECT_EQ(tokenizer->decode(Ids{263}, {.continuation = true}), " a");
  EXPECT_EQ(tokenizer->decode(Ids{3 + 0xE2, 3 + 0x82, 3 + 0xAC, 3 + 0xE2, 260}), "€\uFFFDa");
}

TEST(Decode, names_of_tokens) {
  const auto bytes = test::make(test::byte_level());
  EXPECT_EQ(bytes->token_name(259), "hello");
  EXPECT_EQ(bytes->token_name(260), " w");
  EXPECT_EQ(bytes->token_name(0xE2), "bytes:\\xe2");
  EXPECT_EQ(bytes->token_text(260), "Ġw");
  EXPECT_EQ(bytes->token_id("Ġw"), 260U);
  EXPECT_EQ(bytes->token_id("<|end|>"), 261U);
  EXPECT_EQ(bytes->token_id("\u4e00"), std::nullopt);
  const auto fallback = test::make(test::byte_fallback());
  EXPECT_EQ(fallback->token_name(3 + 'a'), "bytes:\\x61");
  EXPECT_EQ(fallback->token_name(260), "a");
  EXPECT_EQ(fallback->token_text(263), "▁a");
  for (const auto& tokenizer : {bytes, fallback}) {
    std::set<std::string> names;
    for (TokenId id = 0; id < tokenizer->vocab_size() + 3; ++id) names.insert(tokenizer->token_name(id));
    EXPECT_EQ(names.size(), tokenizer->vocab_size() + 3);
  }
  EXPECT_EQ(fallback->special_ids(), (Ids{0, 1, 2}));
}

TEST(Decode, a_stream_is_whole_utf8_at_every_token_and_the_whole_text_at_the_end) {
  for (const auto& tokenizer : {test::make(test::byte_level()), test::make(test::byte_fallback())}) {
    testing::Dice dice(11);
    for (int round = 0; round < 2000; ++round) {
      Ids ids;
      for (std::size_t i = dice.roll(12); i > 0; --i)
        ids.push_back(static_cast<TokenId>(dice.roll(tokenizer->vocab_size() + 2)));
      const DecodeOptions options{.skip_special_tokens = dice.chance(50), .continuation = dice.chance(50)};
      StreamDecoder stream(*tokenizer, options);
      std::string all;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        std::string piece;
        stream.push(ids[i], piece);
        ASSERT_TRUE(utf8::is_valid(piece));
        all += piece;
        const std::string whole = tokenizer->decode(std::span(ids).first(i + 1), options);
        ASSERT_EQ(stream.holds_back() ? all + "\uFFFD" : all, whole);
      }
      stream.finish(all);
      ASSERT_EQ(all, tokenizer->decode(ids, options));
    }
  }
}

TEST(Decode, what_was_encoded_comes_back) {
  testing::Dice dice(5);
  for (const auto& tokenizer : {test::make(test::byte_level()), test::make(test::byte_fallback())}) {
    const std::vector<std::string> chunks = {"hello", " w", "é", "\u4e00", "\U0001f600", "\n", "  ", "ab", "\t", "0"};
    for (int round = 0; round < 500; ++round) {
      std::string text;
      for (std::size_t i = dice.roll(20); i > 0; --i) text += dice.pick(chunks);
      ASSERT_EQ(tokenizer->decode(test::bare(tokenizer, text)), text);
    }
  }
}

}  // namespace
}  // namespace stackgate::tokenizer
