// The embedded index: HNSW over 100,000 vectors of 384 numbers, its queries on one core and what they find of what is
// there; beside them, all vectors looked at. Building the graph takes about a minute.
//
// Vectors are drawn around topics, as embeddings of texts lie: see clustered.hpp. Uniform ones, which lie all equally
// far from each other, are the worst case of every such graph, and no embeddings.
#include <chrono>
#include <cstdlib>

#include "services/evaluator/vectors/embedded_index.hpp"
#include "tests/bench/figure.hpp"
#include "tests/evaluator/vectors/clustered.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::size_t count = 100'000, dimension = 384, topics = 100, queries = 200, k = 10;

double recall(const std::vector<std::vector<Neighbour>>& right, const std::vector<std::vector<Neighbour>>& found) {
  std::size_t hits = 0;
  for (std::size_t i = 0; i < right.size(); ++i)
    for (const Neighbour& each : found[i])
      for (const Neighbour& other : right[i]) hits += each.number == other.number ? 1U : 0U;
  return static_cast<double>(hits) / static_cast<double>(right.size() * k);
}

}  // namespace
}  // namespace stackgate::evaluator

int main() {
  using namespace stackgate;
  using namespace stackgate::evaluator;
  Clustered drawn(dimension, topics, 384);
  EmbeddedIndex exact({.dimension = dimension}, count),
      graph({.kind = IndexShape::Kind::hnsw, .dimension = dimension}, count);
  double build = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<float> vector = drawn.next();
    if (!exact.add(vector)) std::abort();
    const double start = bench::cpu_seconds();
    if (!graph.add(vector)) std::abort();
    build += bench::cpu_seconds() - start;
  }
  std::vector<std::vector<float>> asked;
  for (std::size_t i = 0; i < queries; ++i) asked.push_back(drawn.next());
  std::vector<std::vector<Neighbour>> right(queries), found(queries);
  const double exact_time = bench::microseconds(
      [&] {
        for (std::size_t i = 0; i < queries; ++i) right[i] = exact.nearest(asked[i], k);
      },
      0, 1);
  const double time = bench::microseconds([&] {
    for (std::size_t i = 0; i < queries; ++i) found[i] = graph.nearest(asked[i], k);
  });
  const double exact_rate = queries / exact_time * 1e6;
  bench::print({.name = "vectors_hnsw_build_100000", .value = build, .unit = "s", .limit = 180, .text = ""});
  bench::print({.name = "vectors_hnsw_recall_at_10",
                .value = recall(right, found),
                .unit = "",
                .limit = 0.95,
                .at_least = true,
                .text = fmt::format("{} queries", queries)});
  bench::print({.name = "vectors_hnsw_queries",
                .value = queries / time * 1e6,
                .unit = "queries/s",
                .limit = 2000,
                .at_least = true,
                .beside = exact_rate,
                .text = fmt::format("all vectors looked at: {:.0f} queries/s", exact_rate)});
  return bench::exit_status;
}
