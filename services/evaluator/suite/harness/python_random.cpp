#include "services/evaluator/suite/harness/python_random.hpp"

#include <bit>
#include <cmath>
#include <numeric>
#include <unordered_set>

namespace stackgate::evaluator::harness {

PythonRandom::PythonRandom(std::uint64_t seed) {
  state_[0] = 19650218;
  for (std::uint32_t i = 1; i < size; ++i)
    state_.at(i) = 1812433253U * (state_.at(i - 1) ^ (state_.at(i - 1) >> 30U)) + i;
  // The seed's words, the low one first; 0 is one word.
  const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
  const std::size_t words = key[1] == 0 ? 1 : 2;
  std::size_t i = 1, j = 0;
  const auto step = [&] {
    if (++i < size) return;
    state_[0] = state_[size - 1];
    i = 1;
  };
  const auto mixed = [&](std::uint32_t factor) {
    const std::uint32_t before = state_.at(i - 1);
    return state_.at(i) ^ ((before ^ (before >> 30U)) * factor);
  };
  for (std::size_t k = 0; k < size; ++k) {
    state_.at(i) = mixed(1664525U) + key.at(j) + static_cast<std::uint32_t>(j);
    step();
    j = (j + 1) % words;
  }
  for (std::size_t k = 0; k < size - 1; ++k) {
    state_.at(i) = mixed(1566083941U) - static_cast<std::uint32_t>(i);
    step();
  }
  state_[0] = 0x80000000U;
}

void PythonRandom::refill() {
  constexpr std::size_t middle = 397;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t y = (state_.at(i) & 0x80000000U) | (state_.at((i + 1) % size) & 0x7fffffffU);
    state_.at(i) = state_.at((i + middle) % size) ^ (y >> 1U) ^ ((y & 1U) == 0 ? 0U : 0x9908b0dfU);
  }
  at_ = 0;
}

std::uint32_t PythonRandom::next() {
  if (at_ == size) refill();
  std::uint32_t y = state_.at(at_++);
  y ^= y >> 11U;
  y ^= (y << 7U) & 0x9d2c5680U;
  y ^= (y << 15U) & 0xefc60000U;
  return y ^ (y >> 18U);
}

double PythonRandom::real() {
  const std::uint32_t high = next() >> 5U, low = next() >> 6U;
  return (static_cast<double>(high) * 67108864.0 + static_cast<double>(low)) / 9007199254740992.0;
}

std::uint32_t PythonRandom::below(std::uint32_t bound) {
  const unsigned unused = static_cast<unsigned>(std::countl_zero(bound));
  std::uint32_t out = next() >> unused;
  while (out >= bound) out = next() >> unused;
  return out;
}

std::vector<std::uint32_t> PythonRandom::sample(std::uint32_t population, std::uint32_t count) {
  std::vector<std::uint32_t> out;
  out.reserve(count);
  // From here on a set of what was drawn is smaller than a list of what was not: CPython's own bound, as the ways to
  // draw differ.
  double bound = 21;
  if (count > 5) bound += std::pow(4, std::ceil(std::log(count * 3.0) / std::log(4.0)));
  if (population <= bound) {
    std::vector<std::uint32_t> pool(population);
    std::iota(pool.begin(), pool.end(), 0U);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t at = below(population - i);
      out.push_back(pool[at]);
      pool[at] = pool[population - i - 1];
    }
    return out;
  }
  std::unordered_set<std::uint32_t> drawn;
  while (out.size() < count)
    if (const std::uint32_t at = below(population); drawn.insert(at).second) out.push_back(at);
  return out;
}

}  // namespace stackgate::evaluator::harness
