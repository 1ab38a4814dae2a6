// Random numbers as CPython's `random.Random(seed)` gives them, so that the same examples are drawn as by
// lm-evaluation-harness. Pure.
// Source: Matsumoto and Nishimura (1998), MT19937 with init_by_array; CPython's Lib/random.py for sample().
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stackgate::evaluator::harness {

/// Not thread-safe.
class PythonRandom {
 public:
  explicit PythonRandom(std::uint64_t seed);

  std::uint32_t next();
  /// random(): [0, 1) with 53 bits.
  double real();
  /// randrange(bound), which is at least 1.
  std::uint32_t below(std::uint32_t bound);
  /// sample(range(population), count): different numbers in the order in which they were drawn; count <= population.
  std::vector<std::uint32_t> sample(std::uint32_t population, std::uint32_t count);

 private:
  static constexpr std::size_t size = 624;
  void refill();

  std::array<std::uint32_t, size> state_{};
  std::size_t at_ = size;
};

}  // namespace stackgate::evaluator::harness
