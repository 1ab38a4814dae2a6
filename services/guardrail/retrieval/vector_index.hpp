// The nearest of some vectors, by cosine: examples of intents, chunks of a knowledge base. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stackgate::guardrail {

struct Nearest {
  std::uint32_t index = 0;  // in the order of add()
  float similarity = 0;     // cosine: -1 to 1
};

/// Any number of threads may ask; add() belongs to one. Memory: 4 bytes × dimension × vectors.
class VectorIndex {
 public:
  explicit VectorIndex(std::size_t dimension) : dimension_(dimension) {}

  /// False, and nothing is added, for a vector of another dimension or with a value that is no number.
  bool add(std::span<const float> vector);
  /// At most `most`, the nearest first, of equals the one that was added first; only those of `least` or more. None for
  /// a query of another dimension.
  std::vector<Nearest> nearest(std::span<const float> query, std::size_t most, float least = -1) const;

  std::size_t size() const { return dimension_ == 0 ? 0 : values_.size() / dimension_; }
  std::size_t dimension() const { return dimension_; }

 private:
  std::size_t dimension_;
  std::vector<float> values_;  // each of length 1, or 0
};

}  // namespace stackgate::guardrail
