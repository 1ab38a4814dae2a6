#include "services/inference/sampling/sampler.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "tests/inference/sampling/slow_sampler.hpp"
#include "tests/support/dice.hpp"

namespace stackgate::inference {
namespace {

using Row = std::vector<float>;

TokenId chosen(const Row& row, const Choosing& how) {
  Sampler sampler;
  const auto got = sampler.choose(row, how);
  EXPECT_TRUE(got.has_value());
  return got.value_or(~0U);
}

/// Every token that 300 draws give.
std::set<TokenId> possible(const Row& row, const SamplingParameters& by) {
  Sampler sampler;
  std::set<TokenId> out;
  for (std::uint64_t position = 0; position < 300; ++position)
    out.insert(sampler.choose(row, {.parameters = by, .draw = {.seed = 1, .choice = 0, .position = position}}).value());
  return out;
}

TEST(Sampler, greedy_takes_the_lower_of_equals) {
  EXPECT_EQ(chosen({1, 3, 3, 2}, {.parameters = {.temperature = 0}, .draw = {}}), 1U);
  EXPECT_EQ(chosen({1, 3, 3, 2}, {.parameters = {.temperature = 9e-6F}, .draw = {}}), 1U);
}

TEST(Sampler, each_parameter_keeps_what_it_says) {
  const Row row = {0, 1, 2, 3, 3, -1};  // shares of 0.018 0.050 0.135 0.368 … over 2.58 in all: 0.019 0.052 0.142 0.387
  using Ids = std::set<TokenId>;
  EXPECT_EQ(possible(row, {}), (Ids{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(possible(row, {.top_k = 1}), (Ids{3, 4}));  // ties with the k-th stay
  EXPECT_EQ(possible(row, {.top_k = 2}), (Ids{3, 4}));
  EXPECT_EQ(possible(row, {.top_k = 3}), (Ids{2, 3, 4}));
  EXPECT_EQ(possible(row, {.top_k = 100}), (Ids{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(possible(row, {.top_p = 0.3F}), (Ids{3}));  // of equals the lower id comes first
  EXPECT_EQ(possible(row, {.top_p = 0.5F}), (Ids{3, 4}));
  EXPECT_EQ(possible(row, {.top_p = 1e-9F}), (Ids{3}));
  EXPECT_EQ(possible(row, {.top_p = 0.9F}), (Ids{2, 3, 4}));
  EXPECT_EQ(possible(row, {.min_p = 0.3F}), (Ids{2, 3, 4}));
  EXPECT_EQ(possible(row, {.min_p = 1}), (Ids{3, 4}));
  EXPECT_EQ(possible(row, {.top_p = 0.6F, .top_k = 1}), (Ids{3, 4}));  // of what is left, renormalised
  EXPECT_EQ(possible(row, {.top_p = 0.5F, .min_p = 0.9F}), (Ids{3}));  // likewise
  EXPECT_EQ(possible(row, {.temperature = 0.01F}), (Ids{3, 4}));
  EXPECT_EQ(possible(row, {.top_k = 1, .logit_bias = {{5, 100}, {77, 100}}}), (Ids{5}));
  EXPECT_EQ(possible(row, {.top_k = 1, .logit_bias = {{3, -100}, {4, -100}}}), (Ids{2}));
}

TEST(Sampler, penalties) {
  TokenCounts counts(std::array<TokenId, 2>{0, 9});
  for (const TokenId id : {1U, 1U, 2U}) counts.add_output(id);
  Row row = {2, -2, 2, 2};
  counts.penalize(row, {.repetition_penalty = 2});
  EXPECT_EQ(row, (Row{1, -4, 1, 2}));
  row = {2, 2, 2, 2};
  counts.penalize(row, {.frequency_penalty = 0.5F, .presence_penalty = 0.25F});
  EXPECT_EQ(row, (Row{2, 0.75F, 1.25F, 2}));  // not the prompt's
  const SamplingParameters by{.temperature = 0, .presence_penalty = 1};
  EXPECT_EQ(chosen({0, 5, 5, 4.5F}, {.parameters = by, .draw = {}, .counts = &counts}), 3U);
}

TEST(Sampler, min_tokens_forbids_what_ends) {
  const SamplingParameters by{.temperature = 0, .min_tokens = 2};
  const std::array<TokenId, 2> ending{1, 900};
  for (std::uint64_t position = 0; position < 4; ++position)
    EXPECT_EQ(chosen({3, 5, 4}, {.parameters = by, .draw = {.position = position}, .ending = ending}),
              position < 2 ? 2U : 1U);
}

TEST(Sampler, only_allowed_tokens) {
  Row row(200, 1);
  row[7] = 9;
  row[130] = 5;
  const std::array<std::uint64_t, 3> allowed{1U << 6U, 0, 1U << 2U | 1U << 3U};
  EXPECT_EQ(chosen(row, {.parameters = {.temperature = 0}, .draw = {}, .allowed = allowed}), 130U);
  const std::array<std::uint64_t, 1> none{0};
  const SamplingParameters by;
  EXPECT_EQ(Sampler().choose(row, {.parameters = by, .draw = {}, .allowed = none}).error().message,
            "no token can be chosen: the largest of 200 logits is -inf");
}

TEST(Sampler, broken_rows_are_errors) {
  const SamplingParameters by;
  for (const Row& row : {Row{}, Row{std::nanf("")}, Row{1, test::infinity}, Row{-test::infinity, -test::infinity}})
    EXPECT_FALSE(Sampler().choose(row, {.parameters = by, .draw = {}}).has_value());
  EXPECT_EQ(possible({std::nanf(""), 1, -test::infinity}, {}), std::set<TokenId>{1});
  for (const float odd : {std::nanf(""), test::infinity, -test::infinity, -3.0F})
    for (const SamplingParameters& each :
         {SamplingParameters{.temperature = odd}, SamplingParameters{.top_p = odd}, SamplingParameters{.min_p = odd},
          SamplingParameters{.top_p = odd, .top_k = 1}})
      (void)Sampler().choose(Row{1, 2, 3}, {.parameters = each, .draw = {}});
}

TEST(Sampler, draws_follow_the_probabilities) {
  const Row row = {0, 1, 2};
  std::map<TokenId, int> seen;
  Sampler sampler;
  const SamplingParameters by{.temperature = 2};
  for (std::uint64_t seed = 0; seed < 20'000; ++seed)
    ++seen[sampler.choose(row, {.parameters = by, .draw = {.seed = seed}}).value()];
  const auto expected = test::slow_probabilities({.row = row, .by = by, .prompt = {}, .output = {}, .ending = {}});
  for (TokenId id = 0; id < 3; ++id) EXPECT_NEAR(seen[id] / 20'000.0, expected[id], 0.012);
}

struct Drawn {
  test::SlowInput in;
  Draw draw;
};

Drawn drawn(testing::Dice& dice) {
  Drawn out;
  const auto part = [&dice](float least, float most) {
    return least + (most - least) * static_cast<float>(dice.roll(10'001)) / 10'000;
  };
  const auto maybe = [&](float least, float most, float otherwise) {
    return dice.roll(2) == 0 ? otherwise : part(least, most);
  };
  out.in.row.resize(1 + dice.roll(dice.roll(8) == 0 ? 5000 : 90));
  const float spread = part(0, 15);
  const bool steps = dice.roll(3) == 0;  // many ties
  for (float& each : out.in.row) {
    each = part(-spread, spread);
    if (steps) each = std::round(each);
    if (dice.roll(20) == 0) each = -test::infinity;
  }
  out.in.row[0] = 0;
  const auto ids = [&](std::size_t most) {
    std::vector<TokenId> list(dice.roll(most));
    for (TokenId& id : list) id = static_cast<TokenId>(dice.roll(out.in.row.size()));
    return list;
  };
  out.in.prompt = ids(10);
  out.in.output = ids(10);
  if (out.in.row.size() > 1) out.in.ending = {static_cast<TokenId>(out.in.row.size() - 1)};
  out.in.by = {.temperature = dice.roll(8) == 0 ? 0 : part(0.05F, 2),
               .top_p = maybe(0.01F, 1, 1),
               .top_k = static_cast<std::uint32_t>(dice.roll(2) * dice.roll(60)),
               .min_p = maybe(0, 0.5F, 0),
               .repetition_penalty = maybe(0.5F, 2, 1),
               .frequency_penalty = maybe(-2, 2, 0),
               .presence_penalty = maybe(-2, 2, 0),
               .min_tokens = static_cast<std::uint32_t>(dice.roll(10))};
  if (dice.roll(3) == 0)
    out.in.by.logit_bias.emplace_back(static_cast<TokenId>(dice.roll(out.in.row.size())), part(-9, 9));
  out.draw = {.seed = dice.roll(1U << 30U),
              .choice = static_cast<std::uint32_t>(dice.roll(3)),
              .position = out.in.output.size()};
  return out;
}

bool fits(const Drawn& one, TokenId got) {
  return test::may_give(test::slow_probabilities(one.in), got, uniform(one.draw));
}

/// A share that float32 sums reach one token earlier or later than doubles do.
bool fits_by_a_hair(Drawn one, TokenId got) {
  const SamplingParameters by = one.in.by;
  for (const float hair : {0.99999F, 1.00001F}) {
    one.in.by.top_p = by.top_p < 1 ? by.top_p * hair : by.top_p;
    one.in.by.min_p = by.min_p * hair;
    if (fits(one, got)) return true;
  }
  return false;
}

TEST(Sampler, as_the_slow_one_over_random_rows) {
  testing::Dice dice(2026);
  Sampler sampler;
  int hairs = 0;
  for (int i = 0; i < 4000; ++i) {
    const Drawn one = drawn(dice);
    TokenCounts counts(one.in.prompt);
    for (const TokenId id : one.in.output) counts.add_output(id);
    const auto got = sampler.choose(
        one.in.row, {.parameters = one.in.by, .draw = one.draw, .counts = &counts, .ending = one.in.ending});
    ASSERT_TRUE(got.has_value()) << got.error().message;
    if (fits(one, *got)) continue;
    ++hairs;
    EXPECT_TRUE(fits_by_a_hair(one, *got)) << "case " << i << ": " << *got;
  }
  EXPECT_LT(hairs, 20);
}

}  // namespace
}  // namespace stackgate::inference
