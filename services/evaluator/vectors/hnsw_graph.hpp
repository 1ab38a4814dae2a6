// A graph of vectors in which near ones are found by walking: Hierarchical Navigable Small World.
// Source: Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable
// Small World graphs", 2016 (arXiv:1603.09320); hnswlib, which stays behind hnsw_graph.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stackgate::evaluator {

struct HnswSettings {
  std::uint32_t links = 16;         // of a vector on each level above the lowest, which has twice as many; 2 to 100
  std::uint32_t build_width = 100;  // candidates that are looked at for each new vector
  std::uint32_t search_width = 80;  // … and for each query, or k where that is more
};

/// Its edges as plain numbers: what a file holds besides the vectors.
struct HnswLinks {
  std::uint32_t entry = 0;
  std::vector<std::uint32_t> levels{};  // of each vector: how many above the lowest
  /// For each vector and each of its levels, from the lowest: a count and so many neighbours.
  std::vector<std::uint32_t> lists{};
};

/// Vectors are numbered as they are added. The graph depends on their order alone. add() belongs to one thread;
/// nearest() to any number. Memory: (4 × dimension + 8 × links + about 100) bytes for each of `capacity`.
class HnswGraph {
 public:
  HnswGraph(std::size_t dimension, std::size_t capacity, HnswSettings settings);
  ~HnswGraph();
  HnswGraph(HnswGraph&&) noexcept;
  HnswGraph& operator=(HnswGraph&&) noexcept;

  /// At most `capacity` of them; of `dimension` finite numbers.
  void add(std::span<const float> vector);
  /// Numbers of vectors with great inner products, at most k, in no order.
  std::vector<std::uint32_t> nearest(const float* query, std::size_t k) const;

  std::size_t size() const;
  const float* vector(std::size_t number) const;

  HnswLinks links() const;
  /// A graph without building it. `vectors`: one behind the other. Every number is checked: the error is a sentence.
  static std::expected<HnswGraph, std::string> restore(std::size_t dimension, std::span<const float> vectors,
                                                       const HnswLinks& links, HnswSettings settings);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackgate::evaluator
