// Vectors in memory, and the nearest of them: all looked at, or found in a graph.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "services/evaluator/vectors/hnsw_graph.hpp"

namespace stackgate::evaluator {

inline constexpr std::uint32_t most_dimensions = 32'768;

struct Neighbour {
  std::uint64_t number = 0;  // as vectors were added
  double score = 0;          // the greater, the nearer
};

/// The greatest `k` scores first; of equal ones the vector that was added first.
void keep_nearest(std::vector<Neighbour>& found, std::size_t k);

struct IndexShape {
  enum class Kind : std::uint8_t { exact, hnsw };
  enum class Metric : std::uint8_t { cosine, inner_product };
  Kind kind = Kind::exact;
  Metric metric = Metric::cosine;
  std::uint32_t dimension = 0;  // 1 to most_dimensions
  HnswSettings graph{};         // of Kind::hnsw
};

/// add() belongs to one thread, nearest() to any number. Memory: 4 bytes × dimension × vectors, and the graph.
class EmbeddedIndex {
 public:
  /// `capacity`: how many vectors there will be at most.
  EmbeddedIndex(IndexShape shape, std::size_t capacity);

  /// False, and nothing is added: another dimension, a value that is no number, or one vector too many.
  bool add(std::span<const float> vector);
  /// At most k. None for a query of another dimension or with a value that is no number.
  std::vector<Neighbour> nearest(std::span<const float> query, std::size_t k) const;

  const IndexShape& shape() const { return shape_; }
  std::size_t size() const { return size_; }
  /// With cosine, of length 1.
  std::span<const float> vector(std::size_t number) const;
  const std::optional<HnswGraph>& graph() const { return graph_; }

  /// Of vectors and edges that were read; `vectors` are as vector() gave them. The error is a sentence.
  static std::expected<EmbeddedIndex, std::string> restore(IndexShape shape, std::vector<float> vectors,
                                                           const HnswLinks& links);

 private:
  IndexShape shape_;
  std::size_t capacity_, size_ = 0;
  std::vector<float> values_{};       // of Kind::exact
  std::optional<HnswGraph> graph_{};  // of Kind::hnsw
};

}  // namespace stackgate::evaluator
