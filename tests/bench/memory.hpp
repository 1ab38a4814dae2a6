// How fast this machine's memory is read by one thread, in GB/s.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/bench/figure.hpp"

namespace stackgate::bench {

/// When next to nothing is done with it: eight streams, because one does not keep a core's outstanding loads busy.
inline double reading_rate(const std::vector<float>& all) {
  typedef std::uint64_t Words __attribute__((vector_size(16)));
  constexpr std::size_t streams = 8;
  static volatile std::uint64_t sink = 0;
  const std::size_t each = all.size() / streams;
  const double us = microseconds(
      [&] {
        Words sums[streams] = {};
        for (std::size_t i = 0; i + 4 <= each; i += 4)
          for (std::size_t s = 0; s < streams; ++s) {
            Words words;
            std::memcpy(&words, all.data() + s * each + i, sizeof words);
            sums[s] ^= words;
          }
        for (const Words& sum : sums) sink = sink ^ sum[0] ^ sum[1];
      },
      0.1, 5);
  return static_cast<double>(all.size() * sizeof(float)) / us / 1e3;
}

/// Of memory that no cache holds: 1 GB.
inline double reading_rate() { return reading_rate(std::vector<float>(std::size_t{1} << 28U, 1.0F)); }

}  // namespace stackgate::bench
