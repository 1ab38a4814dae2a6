// Which rows are the examples of which sample. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "services/evaluator/suite/harness/splits.hpp"

namespace stackgate::evaluator::harness {

/// Chosen when made, as the harness chooses them: one generator draws for sample after sample. Immutable, thread-safe.
class Examples {
 public:
  Examples() = default;
  /// `of_own_split`: they are rows of the split that is asked, and none is its own example. `count` and one more, if
  /// so, are in `pool`.
  Examples(SplitPtr pool, const Fewshot& fewshot, std::uint32_t count, bool of_own_split, std::uint32_t samples,
           std::uint64_t seed);

  /// Rows of the pool for a sample whose row this is; mostly `count`.
  std::vector<std::uint32_t> of(std::uint32_t sample, const DataRow& own) const;
  /// Each row that may be an example of one of the samples.
  std::vector<std::uint32_t> all() const;
  const SplitPtr& pool() const { return pool_; }
  std::uint32_t count() const { return count_; }

 private:
  bool is(std::uint32_t row, const DataRow& own) const;

  SplitPtr pool_{};
  std::uint32_t count_ = 0, drawn_for_each_ = 0;
  bool of_own_split_ = false, first_n_ = false;
  std::vector<std::uint32_t> places_{};  // rows of the pool that may be taken, in order
  std::vector<std::uint32_t> drawn_{};   // `drawn_for_each_` of each sample
};

}  // namespace stackgate::evaluator::harness
