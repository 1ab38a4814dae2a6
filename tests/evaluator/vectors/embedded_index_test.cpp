#include "services/evaluator/vectors/embedded_index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "services/evaluator/vectors/vector_math.hpp"
#include "tests/evaluator/vectors/clustered.hpp"

namespace stackgate::evaluator {
namespace {

using Kind = IndexShape::Kind;
using Metric = IndexShape::Metric;

std::vector<std::uint64_t> numbers(const std::vector<Neighbour>& found) {
  std::vector<std::uint64_t> out;
  for (const Neighbour& each : found) out.push_back(each.number);
  return out;
}

/// By doubles, without anything of ours.
std::vector<std::uint64_t> by_brute_force(const std::vector<std::vector<float>>& vectors,
                                          const std::vector<float>& query, std::size_t k) {
  const auto cosine = [](const std::vector<float>& a, const std::vector<float>& b) {
    double product = 0, left = 0, right = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      product += static_cast<double>(a[i]) * b[i];
      left += static_cast<double>(a[i]) * a[i];
      right += static_cast<double>(b[i]) * b[i];
    }
    return left > 0 && right > 0 ? product / std::sqrt(left * right) : 0;
  };
  std::vector<std::uint64_t> order(vectors.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater{}, [&](std::uint64_t i) { return cosine(vectors[i], query); });
  order.resize(std::min(k, order.size()));
  return order;
}

TEST(VectorMath, products_are_those_of_doubles_whatever_the_length) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  for (const std::size_t size : {0U, 1U, 3U, 31U, 32U, 33U, 64U, 100U, 384U, 1000U}) {
    std::vector<float> a(size), b(size);
    double expected = 0;
    for (std::size_t i = 0; i < size; ++i) {
      a[i] = normal(random);
      b[i] = normal(random);
      expected += static_cast<double>(a[i]) * b[i];
    }
    EXPECT_NEAR(dot(a.data(), b.data(), size), expected, 1e-4) << size;
  }
}

TEST(VectorMath, normalises_what_has_a_length) {
  std::vector<float> some = {3, 0, 4}, zeros = {0, 0}, none = {1, NAN}, endless = {3e38F, 3e38F};
  EXPECT_TRUE(normalise(some));
  EXPECT_FLOAT_EQ(some[0], 0.6F);
  EXPECT_FLOAT_EQ(some[2], 0.8F);
  EXPECT_TRUE(normalise(zeros));
  EXPECT_EQ(zeros[0], 0);
  EXPECT_FALSE(normalise(none));
  EXPECT_FALSE(normalise(endless));
  EXPECT_EQ(endless[0], 3e38F);
}

TEST(EmbeddedIndex, exact_is_what_brute_force_finds) {
  Clustered drawn(48, 5, 7);
  EmbeddedIndex index({.dimension = 48}, 500);
  std::vector<std::vector<float>> vectors;
  for (int i = 0; i < 500; ++i) {
    vectors.push_back(drawn.next());
    for (float& each : vectors.back()) each *= static_cast<float>(1 + i % 7);  // cosine has no use for the length
    ASSERT_TRUE(index.add(vectors.back()));
  }
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> query = drawn.next();
    EXPECT_EQ(numbers(index.nearest(query, 10)), by_brute_force(vectors, query, 10));
  }
  EXPECT_EQ(index.nearest(vectors[3], 1).front().number, 3U);
  EXPECT_NEAR(index.nearest(vectors[3], 1).front().score, 1, 1e-5);
  EXPECT_EQ(index.nearest(vectors[3], 1000).size(), 500U);
}

TEST(EmbeddedIndex, of_equal_ones_the_first_is_first) {
  for (const Kind kind : {Kind::exact, Kind::hnsw}) {
    EmbeddedIndex index({.kind = kind, .dimension = 2}, 4);
    for (const auto& each : {std::vector<float>{0, 1}, {1, 0}, {0, 2}, {0, 3}}) ASSERT_TRUE(index.add(each));
    EXPECT_EQ(numbers(index.nearest(std::vector<float>{0, 5}, 4)), (std::vector<std::uint64_t>{0, 2, 3, 1}));
  }
}

TEST(EmbeddedIndex, inner_product_counts_the_length) {
  for (const Kind kind : {Kind::exact, Kind::hnsw}) {
    EmbeddedIndex index({.kind = kind, .metric = Metric::inner_product, .dimension = 2}, 2);
    ASSERT_TRUE(index.add(std::vector<float>{1, 0}));
    ASSERT_TRUE(index.add(std::vector<float>{2, 2}));
    const auto found = index.nearest(std::vector<float>{1, 0}, 2);
    EXPECT_EQ(numbers(found), (std::vector<std::uint64_t>{1, 0}));
    EXPECT_DOUBLE_EQ(found[0].score, 2);
  }
}

TEST(EmbeddedIndex, refuses_what_is_no_vector_of_it) {
  for (const Kind kind : {Kind::exact, Kind::hnsw}) {
    EmbeddedIndex index({.kind = kind, .dimension = 2}, 2);
    EXPECT_TRUE(index.nearest(std::vector<float>{1, 0}, 3).empty());
    EXPECT_FALSE(index.add(std::vector<float>{1}));
    EXPECT_FALSE(index.add(std::vector<float>{1, NAN}));
    EXPECT_FALSE(index.add(std::vector<float>{INFINITY, 1}));
    EXPECT_FALSE(index.add(std::vector<float>{3e38F, 3e38F}));
    EXPECT_EQ(index.size(), 0U);
    EXPECT_TRUE(index.add(std::vector<float>{0, 0}));
    EXPECT_TRUE(index.add(std::vector<float>{1, 1}));
    EXPECT_FALSE(index.add(std::vector<float>{1, 1})) << "beyond its capacity";
    EXPECT_TRUE(index.nearest(std::vector<float>{1}, 1).empty());
    EXPECT_TRUE(index.nearest(std::vector<float>{NAN, 1}, 1).empty());
    EXPECT_TRUE(index.nearest(std::vector<float>{1, 1}, 0).empty());
    EXPECT_EQ(numbers(index.nearest(std::vector<float>{1, 1}, 5)), (std::vector<std::uint64_t>{1, 0}));
  }
}

TEST(EmbeddedIndex, the_graph_finds_nearly_all_and_is_the_same_each_time) {
  constexpr std::size_t count = 3000;
  const auto make = [](Kind kind) {
    Clustered drawn(64, 30, 11);
    EmbeddedIndex index({.kind = kind, .dimension = 64}, count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(index.add(drawn.next()));
    return index;
  };
  const EmbeddedIndex exact = make(Kind::exact), graph = make(Kind::hnsw), again = make(Kind::hnsw);
  Clustered drawn(64, 30, 11);
  std::size_t found = 0;
  constexpr std::size_t queries = 100;
  for (std::size_t i = 0; i < queries; ++i) {
    const std::vector<float> query = drawn.next();
    const auto right = exact.nearest(query, 10), walked = graph.nearest(query, 10);
    EXPECT_EQ(numbers(walked), numbers(again.nearest(query, 10)));
    ASSERT_EQ(walked.size(), 10U);
    for (const Neighbour& each : walked)
      for (const Neighbour& other : right)
        if (each.number == other.number) {
          ++found;
          EXPECT_EQ(each.score, other.score);
        }
  }
  EXPECT_GE(found, queries * 10 * 95 / 100);
}

TEST(EmbeddedIndex, is_asked_by_several_threads) {
  Clustered drawn(32, 10, 3);
  EmbeddedIndex index({.kind = Kind::hnsw, .dimension = 32}, 500);
  std::vector<std::vector<float>> vectors;
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(index.add(vectors.emplace_back(drawn.next())));
  std::vector<std::vector<std::uint64_t>> alone;
  for (const auto& each : vectors) alone.push_back(numbers(index.nearest(each, 5)));
  std::vector<std::jthread> threads;
  std::vector<int> differing(4);
  for (std::size_t t = 0; t < differing.size(); ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < vectors.size(); ++i)
        if (numbers(index.nearest(vectors[i], 5)) != alone[i]) ++differing[t];
    });
  threads.clear();
  EXPECT_EQ(differing, std::vector<int>(4));
}

}  // namespace
}  // namespace stackgate::evaluator
