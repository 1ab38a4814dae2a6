#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "services/model/kernels/kernels.hpp"
#include "tests/model/kernels/weights.hpp"

namespace stackgate::model {
namespace {

/// Keys and values of one head in pages that lie apart.
struct Cache {
  Cache(Drawn& drawn, std::size_t positions, std::size_t width_, std::size_t block_) : width(width_), block(block_) {
    for (std::size_t at = 0; at < positions; at += block) {
      pages.push_back(drawn.floats(block * width));
      pages.push_back(drawn.floats(block * width));
    }
    for (std::size_t i = 0; i < pages.size(); i += 2) {
      keys.push_back(pages[i].data());
      values.push_back(pages[i + 1].data());
    }
  }
  double key(std::size_t position, std::size_t column) const {
    return static_cast<double>(keys[position / block][position % block * width + column]);
  }
  double value(std::size_t position, std::size_t column) const {
    return static_cast<double>(values[position / block][position % block * width + column]);
  }

  std::size_t width, block;
  std::vector<std::vector<float>> pages;
  std::vector<const float*> keys, values;
};

std::vector<double> slowly(const Cache& cache, const float* query, std::size_t length, double scale) {
  std::vector<double> weights(length), out(cache.width);
  double total = 0;
  for (std::size_t i = 0; i < length; ++i) {
    double score = 0;
    for (std::size_t c = 0; c < cache.width; ++c) score += static_cast<double>(query[c]) * cache.key(i, c);
    total += weights[i] = std::exp(score * scale);
  }
  for (std::size_t c = 0; c < cache.width; ++c) {
    for (std::size_t i = 0; i < length; ++i) out[c] += weights[i] * cache.value(i, c);
    out[c] /= total;
  }
  return out;
}

struct Case {
  std::size_t width, block;
  std::vector<std::size_t> lengths;
};

std::vector<float> attended(const Kernels& set, const Cache& cache, const std::vector<float>& queries,
                            const std::vector<std::size_t>& lengths, float scale) {
  std::size_t longest = 0;
  for (const std::size_t each : lengths) longest = std::max(longest, each);
  std::vector<float> scratch(attention_scratch(longest)), out(lengths.size() * cache.width, -9);
  set.attend({.queries = {queries.data(), lengths.size(), cache.width},
              .lengths = lengths.data(),
              .keys = {cache.keys.data(), cache.block},
              .values = {cache.values.data(), cache.block},
              .width = cache.width,
              .scale = scale,
              .scratch = scratch.data()},
             out.data(), cache.width);
  return out;
}

const std::vector<Case> cases = {
    {64, 16, {1}},          {64, 16, {16, 17, 33, 5}}, {128, 16, {100, 7, 64, 65, 1, 2, 48}},
    {80, 32, {90, 91, 92}}, {20, 4, {9, 1, 5, 8, 13}}, {3, 2, {1, 2, 3, 4, 5}}};

TEST(Attention, is_what_plain_loops_say) {
  Drawn drawn(4);
  for (const Case& each : cases) {
    const Cache cache(drawn, 128, each.width, each.block);
    const std::vector<float> queries = drawn.floats(each.lengths.size() * each.width);
    const float scale = 1 / std::sqrt(static_cast<float>(each.width));
    for (const Kernels& set : runnable_kernels()) {
      const std::vector<float> out = attended(set, cache, queries, each.lengths, scale);
      for (std::size_t r = 0; r < each.lengths.size(); ++r) {
        const std::vector<double> expected =
            slowly(cache, queries.data() + r * each.width, each.lengths[r], static_cast<double>(scale));
        for (std::size_t c = 0; c < each.width; ++c)
          ASSERT_NEAR(out[r * each.width + c], expected[c], 3e-6)
              << set.instruction_set << ' ' << each.width << ' ' << r << ' ' << c;
      }
    }
  }
}

TEST(Attention, of_a_query_is_the_same_alone_and_in_any_company) {
  Drawn drawn(5);
  const Case& many = cases[2];
  const Cache cache(drawn, 128, many.width, many.block);
  const std::vector<float> queries = drawn.floats(many.lengths.size() * many.width);
  for (const Kernels& set : runnable_kernels()) {
    const std::vector<float> together = attended(set, cache, queries, many.lengths, 0.1F);
    for (std::size_t r = 0; r < many.lengths.size(); ++r) {
      const auto begin = queries.begin() + static_cast<std::ptrdiff_t>(r * many.width);
      const std::vector<float> query(begin, begin + static_cast<std::ptrdiff_t>(many.width));
      const std::vector<float> alone = attended(set, cache, query, {many.lengths[r]}, 0.1F);
      EXPECT_EQ(std::memcmp(alone.data(), together.data() + r * many.width, many.width * sizeof(float)), 0)
          << set.instruction_set << ' ' << r;
    }
  }
}

TEST(Attention, takes_scores_that_are_far_apart) {
  Drawn drawn(6);
  const Cache cache(drawn, 64, 64, 16);
  const std::vector<float> queries = drawn.floats(64);
  for (const Kernels& set : runnable_kernels())
    for (const float scale : {0.0F, 1e-20F, 50.0F, 1e6F})
      for (const float value : attended(set, cache, queries, {64}, scale))
        ASSERT_TRUE(std::isfinite(value) && std::abs(value) < 10) << set.instruction_set << ' ' << scale;
}

}  // namespace
}  // namespace stackgate::model
