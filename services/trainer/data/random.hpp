// Numbers that are a function of their key alone: what is drawn for a step does not depend on what was drawn before,
// so that a run that goes on after a stop draws the same. Pure.
// Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (SplitMix64), its finalizer.
#pragma once
#include <cstdint>

namespace stackgate::trainer {

constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

/// A key of several numbers.
template <class... Numbers>
constexpr std::uint64_t key_of(std::uint64_t first, Numbers... rest) {
  std::uint64_t out = mixed(first);
  ((out = mixed(out ^ static_cast<std::uint64_t>(rest))), ...);
  return out;
}

/// From 0 inclusive to 1 exclusive: the n-th of `key`, 53 random bits.
constexpr double uniform(std::uint64_t key, std::uint64_t n) {
  return static_cast<double>(mixed(key ^ mixed(n)) >> 11U) * 0x1p-53;
}

}  // namespace stackgate::trainer
