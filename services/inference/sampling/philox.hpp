// Random numbers that are a function of (seed, choice, position): a token's draw depends on nothing that happened
// before it or beside it. Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (SC 2011).
#pragma once
#include <array>
#include <cstdint>

namespace stackgate::inference {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

constexpr PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  constexpr std::uint64_t multiplier_0 = 0xD2511F53U, multiplier_1 = 0xCD9E8D57U;
  constexpr std::uint32_t step_0 = 0x9E3779B9U, step_1 = 0xBB67AE85U;
  constexpr int rounds = 10;
  const auto high = [](std::uint64_t product) { return static_cast<std::uint32_t>(product >> 32U); };
  const auto low = [](std::uint64_t product) { return static_cast<std::uint32_t>(product); };
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t first = multiplier_0 * counter[0], second = multiplier_1 * counter[2];
    counter = {high(second) ^ counter[1] ^ key[0], low(second), high(first) ^ counter[3] ^ key[1], low(first)};
    key = {key[0] + step_0, key[1] + step_1};
  }
  return counter;
}

/// Which draw: of choice `choice` of a request with this seed, for its output token `position`.
struct Draw {
  std::uint64_t seed = 0;
  std::uint32_t choice = 0;
  std::uint64_t position = 0;
};

/// From 0 inclusive to 1 exclusive, 53 random bits.
constexpr double uniform(const Draw& draw) {
  constexpr double scale = 1.0 / 9007199254740992.0;  // 2⁻⁵³
  const PhiloxCounter bits = philox(
      {static_cast<std::uint32_t>(draw.position), static_cast<std::uint32_t>(draw.position >> 32U), draw.choice, 0},
      {static_cast<std::uint32_t>(draw.seed), static_cast<std::uint32_t>(draw.seed >> 32U)});
  return static_cast<double>((std::uint64_t{bits[0]} << 32U | bits[1]) >> 11U) * scale;
}

}  // namespace stackgate::inference
