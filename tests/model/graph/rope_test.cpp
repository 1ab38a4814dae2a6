#include "services/model/graph/rope.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace stackgate::model {
namespace {

Config heads_of(std::uint32_t width) {
  Config out;
  out.head_width = width;
  return out;
}

TEST(Rope, turns_the_first_pair_by_one_and_the_others_more_slowly) {
  const auto frequencies = rope_frequencies(heads_of(4));
  ASSERT_EQ(frequencies.size(), 2U);
  EXPECT_DOUBLE_EQ(frequencies[0], 1);
  EXPECT_DOUBLE_EQ(frequencies[1], 0.01);
}

TEST(Rope, linear_scaling_stretches_all_of_them) {
  Config config = heads_of(4);
  config.rope.kind = Rope::Kind::linear;
  config.rope.factor = 4;
  EXPECT_DOUBLE_EQ(rope_frequencies(config)[0], 0.25);
  EXPECT_DOUBLE_EQ(rope_frequencies(config)[1], 0.0025);
}

// Llama 3.1: factor 8, 1 and 4, over 8192 positions.
TEST(Rope, llama3_scaling_leaves_short_waves_and_stretches_long_ones) {
  Config config = heads_of(128);
  config.rope = {.kind = Rope::Kind::llama3,
                 .theta = 500'000,
                 .factor = 8,
                 .low_frequency_factor = 1,
                 .high_frequency_factor = 4,
                 .original_context = 8192};
  const auto frequencies = rope_frequencies(config);
  const auto plain = [](int j) { return std::pow(500'000.0, -2.0 * j / 128); };
  EXPECT_DOUBLE_EQ(frequencies[0], 1);
  EXPECT_DOUBLE_EQ(frequencies[28], plain(28)) << "a wave of 1,958 positions";
  EXPECT_LT(frequencies[32], plain(32)) << "4,443: between";
  EXPECT_GT(frequencies[32], plain(32) / 8);
  EXPECT_DOUBLE_EQ(frequencies[40], plain(40) / 8) << "22,894";
}

TEST(Rope, tables_hold_a_row_for_each_position) {
  const RopeTables tables = rope_tables(heads_of(4), 3);
  ASSERT_EQ(tables.cosines.size(), 6U);
  EXPECT_FLOAT_EQ(tables.cosines[0], 1);
  EXPECT_FLOAT_EQ(tables.sines[4], std::sin(2.0F));
  EXPECT_FLOAT_EQ(tables.sines[5], std::sin(0.02F));
}

}  // namespace
}  // namespace stackgate::model
