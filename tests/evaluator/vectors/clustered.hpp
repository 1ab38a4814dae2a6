// Vectors as embeddings are: around some hundred topics, of length 1.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "services/evaluator/vectors/vector_math.hpp"

namespace stackgate::evaluator {

class Clustered {
 public:
  Clustered(std::size_t dimension, std::size_t topics, std::uint64_t seed, float spread = 0.6F)
      : dimension_(dimension), spread_(spread), random_(seed) {
    for (std::size_t i = 0; i < topics; ++i) topics_.push_back(drawn(1));
  }
  std::vector<float> next() {
    const std::vector<float>& topic = topics_[random_() % topics_.size()];
    std::vector<float> out = drawn(spread_);
    for (std::size_t i = 0; i < dimension_; ++i) out[i] += topic[i];
    normalise(out);
    return out;
  }

 private:
  std::vector<float> drawn(float deviation) {
    std::normal_distribution<float> normal(0, deviation);
    std::vector<float> out(dimension_);
    for (float& each : out) each = normal(random_);
    return out;
  }
  std::size_t dimension_;
  float spread_;
  std::mt19937_64 random_;
  std::vector<std::vector<float>> topics_{};
};

}  // namespace stackgate::evaluator
