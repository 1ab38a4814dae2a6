// How a benchmark prints a figure: one JSON object on stdout, one line of a table on stderr. And how it measures CPU.
#pragma once
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <time.h>

namespace stackgate::bench {

struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  double limit = 0;
  bool at_least = false;  // the value must be the limit or more, not less
  double beside = 0;      // the same figure of what it is compared with
  std::string text;
};

/// What main() returns: 1 when a figure was beyond its limit.
inline int exit_status = 0;

inline void print(const Figure& figure) {
  const bool within = figure.at_least ? figure.value >= figure.limit : figure.value <= figure.limit;
  if (!within) exit_status = 1;
  fmt::print("{}\n", fmt::format(R"({{"name":"{}","value":{:.3f},"unit":"{}","limit":{},"within":{},"beside":{:.3f}}})",
                                 figure.name, figure.value, figure.unit, figure.limit, within, figure.beside));
  std::fflush(stdout);
  fmt::print(stderr, "  {:<34} {:>10.2f} {:<12} {} {:<7} {:<4} {}\n", figure.name, figure.value, figure.unit,
             figure.at_least ? "≥" : "≤", figure.limit, within ? "ok" : "MISS", figure.text);
}

inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Microseconds of CPU per call: the best of several rounds, so that a neighbour on the machine counts little.
template <class Body>
double microseconds(Body&& body, double round_seconds = 0.05, int rounds = 7) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const double start = cpu_seconds();
    long calls = 0;
    double spent = 0;
    do {
      body();
      ++calls;
      spent = cpu_seconds() - start;
    } while (spent < round_seconds);
    best = std::min(best, spent / static_cast<double>(calls));
  }
  return best * 1e6;
}

}  // namespace stackgate::bench
