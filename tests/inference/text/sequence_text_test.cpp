#include "services/inference/text/sequence_text.hpp"

#include <gtest/gtest.h>

#include "services/inference/text/named_log_probs.hpp"
#include "services/inference/text/prompt_text.hpp"
#include "services/kit/base/utf8.hpp"
#include "tests/model/tokenizer/small_tokenizers.hpp"
#include "tests/support/dice.hpp"

namespace stackgate::inference {
namespace {

using Ids = std::vector<TokenId>;
using Pieces = std::vector<std::string>;

// tokenizer::test::byte_level(): 256 bytes, "hello" 259, " w" 260, and <|end|> 261, which is special.
const std::shared_ptr<const tokenizer::Tokenizer>& bytes() {
  static const auto made = tokenizer::test::make(tokenizer::test::byte_level());
  return made;
}

struct Told {
  Pieces pieces;
  std::optional<Finish> finish;
  std::uint32_t tokens = 0;
};

Told told(TextOptions options, const Ids& ids, const Ids& prompt = {}) {
  SequenceText text(*bytes(), std::move(options), prompt);
  Told out;
  for (const TokenId id : ids) {
    out.finish = text.push(id, out.pieces.emplace_back());
    if (out.finish) break;
  }
  out.tokens = text.tokens();
  return out;
}

TEST(SequenceText, ends_at_an_end_id_without_its_text) {
  const Told got = told({.end_ids = {261, 'z'}}, {259, 260, 261, 'a'});
  EXPECT_EQ(got.pieces, (Pieces{"hello", " w", ""}));
  EXPECT_EQ(got.finish, (Finish{FinishReason::stop, {}}));
  EXPECT_EQ(got.tokens, 3U);  // counted in usage
  EXPECT_EQ(told({.end_ids = {261, 'z'}}, {'a', 'z'}).pieces, (Pieces{"a", ""}));
  const Told goes_on = told({.end_ids = {261}, .ignore_eos = true, .max_tokens = 3}, {259, 261, 'a'});
  EXPECT_EQ(goes_on.pieces, (Pieces{"hello", "", "a"}));
  EXPECT_EQ(goes_on.finish, (Finish{FinishReason::length, {}}));
  EXPECT_EQ(told({.max_tokens = 2, .skip_special_tokens = false}, {261, 'a'}).pieces, (Pieces{"<|end|>", "a"}));
}

TEST(SequenceText, ends_at_a_stop_text_across_tokens) {
  const Told got = told({.stop = {"lo wo"}}, {259, 260, 'o', 'x'});
  EXPECT_EQ(got.pieces, (Pieces{"hel", "", ""}));
  EXPECT_EQ(got.finish, (Finish{FinishReason::stop, "lo wo"}));
  EXPECT_EQ(got.tokens, 3U);
  EXPECT_EQ(told({.stop = {"lo wo"}, .include_stop = true}, {259, 260, 'o'}).pieces, (Pieces{"hel", "", "lo wo"}));
  EXPECT_EQ(told({.stop = {"ll"}}, {259}).pieces, (Pieces{"he"}));  // the text ends before it, what follows is dropped
}

TEST(SequenceText, releases_what_turned_out_to_be_no_stop_text) {
  EXPECT_EQ(told({.stop = {"lo wo"}}, {259, 260, 'e'}).pieces, (Pieces{"hel", "", "lo we"}));
  EXPECT_EQ(told({.stop = {"lo wo"}, .max_tokens = 2}, {259, 260}).pieces, (Pieces{"hel", "lo w"}));
  EXPECT_EQ(told({.stop = {"lo wo"}, .end_ids = {261}}, {259, 261}).pieces, (Pieces{"hel", "lo"}));
  EXPECT_EQ(told({.stop = {"lo"}, .max_tokens = 1}, {259}).finish, (Finish{FinishReason::stop, "lo"}));
}

TEST(SequenceText, ends_at_a_stop_token) {
  const Told got = told({.stop_token_ids = {260}}, {259, 260});
  EXPECT_EQ(got.pieces, (Pieces{"hello", ""}));
  EXPECT_EQ(got.finish, (Finish{FinishReason::stop, TokenId{260}}));
  EXPECT_EQ(told({.include_stop = true, .stop_token_ids = {260}}, {259, 260}).pieces, (Pieces{"hello", " w"}));
  EXPECT_EQ(told({.stop_token_ids = {260}, .end_ids = {260}}, {260}).finish, (Finish{FinishReason::stop, {}}));
}

TEST(SequenceText, looks_for_no_stop_text_in_the_first_min_tokens) {
  EXPECT_EQ(told({.stop = {"a"}, .min_tokens = 2}, {'a', 'a', 'b', 'a'}).pieces, (Pieces{"a", "a", "b", ""}));
  EXPECT_EQ(SequenceText(*bytes(), {.stop_token_ids = {3}, .end_ids = {1, 2}}).ending_ids(), (Ids{3, 1, 2}));
  EXPECT_EQ(SequenceText(*bytes(), {.stop_token_ids = {3}, .end_ids = {1}, .ignore_eos = true}).ending_ids(), (Ids{3}));
}

TEST(SequenceText, never_half_a_character) {
  EXPECT_EQ(told({.max_tokens = 4}, {0xE2, 0x82, 0xAC, 'a'}).pieces, (Pieces{"", "", "€", "a"}));
  EXPECT_EQ(told({.max_tokens = 2}, {0xE2, 0x82}).pieces, (Pieces{"", "\uFFFD"}));
  EXPECT_EQ(told({.end_ids = {261}}, {0xE2, 261}).pieces, (Pieces{"", "\uFFFD"}));
  EXPECT_EQ(told({.stop = {"€"}}, {'a', 0xE2, 0x82, 0xAC}).pieces, (Pieces{"a", "", "", ""}));
  EXPECT_EQ(told({}, {0x82, 0xAC, 'a'}, {'x', 0xE2}).pieces, (Pieces{"", "€", "a"}));  // begun by the prompt
}

TEST(SequenceText, joined_it_is_what_decoding_at_once_gives) {
  testing::Dice dice(32);
  for (int i = 0; i < 2000; ++i) {
    Ids ids(1 + dice.roll(12));
    for (TokenId& id : ids) id = static_cast<TokenId>(dice.chance(30) ? 0xE0 + dice.roll(4) : 0x80 + dice.roll(184));
    const std::string_view stop = dice.chance(50) ? "\u0080" : "hello w";
    const Told got = told({.stop = {std::string(stop)}, .max_tokens = static_cast<std::uint32_t>(ids.size())}, ids);
    std::string joined;
    for (const std::string& piece : got.pieces) {
      EXPECT_TRUE(utf8::is_valid(piece));
      joined += piece;
    }
    std::string whole = bytes()->decode(ids, {.continuation = true});
    if (const auto at = whole.find(stop); at != std::string::npos) whole.resize(at);
    EXPECT_EQ(joined, whole);
    EXPECT_TRUE(got.finish.has_value());
  }
}

TEST(PromptText, offsets_are_code_points) {
  const auto fallback = tokenizer::test::make(tokenizer::test::byte_fallback());
  tokenizer::Encoder encoder(fallback);
  const auto spans = encoder.encode_with_spans("a€ab");
  ASSERT_TRUE(spans.has_value());
  const PromptText got = prompt_text("a€ab", *spans);  // <s> ▁a <0xE2> <0x82> <0xAC> ab
  EXPECT_EQ(got.offsets, (std::vector<std::uint64_t>{0, 0, 1, 1, 1, 2}));
  EXPECT_EQ(got.characters, 4U);
  EXPECT_EQ(got.text, "a€ab");

  const PromptText ids = prompt_text(*bytes(), Ids{259, 0xE2, 0x82, 0xAC, 261, 'a', 0xE2});
  EXPECT_EQ(ids.text, "hello€a");
  EXPECT_EQ(ids.offsets, (std::vector<std::uint64_t>{0, 5, 5, 5, 6, 6, 7}));
  EXPECT_EQ(ids.characters, 7U);
}

TEST(SequenceText, goes_on_counting_behind_an_echoed_prompt) {
  const Ids prompt{259, 0xE2};
  const PromptText before = prompt_text(*bytes(), prompt);
  SequenceText text(*bytes(), {.stop = {"zz"}}, prompt, before.characters);
  std::string out = before.text;
  std::vector<std::uint64_t> offsets;
  for (const TokenId id : Ids{0x82, 0xAC, 'z', 'a'}) {
    offsets.push_back(text.characters());
    text.push(id, out);
  }
  EXPECT_EQ(out, "hello€za");
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{5, 5, 6, 7}));
}

TEST(NamedLogProbs, names_and_bytes) {
  const PositionLogProbs got = named(*bytes(), 0xE2, {.chosen = -0.5F, .top = {{259, -0.25F}, {0xE2, -0.5F}}}, 4);
  EXPECT_EQ(got.token, "bytes:\\xe2");
  EXPECT_EQ(got.bytes, "\xE2");
  EXPECT_EQ(got.log_prob, -0.5F);
  ASSERT_EQ(got.top.size(), 2U);
  EXPECT_EQ(got.top[0].token, "hello");
  EXPECT_EQ(got.text_offset, 4U);
  EXPECT_FALSE(named(*bytes(), 259, 0).log_prob.has_value());
}

}  // namespace
}  // namespace stackgate::inference
